"""Advice on making a program faster: rules, each with the line that it is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from theano.configdefaults import config
from theano.profile.findings import Findings, FunctionTimes, share_of, statements_of
from theano.support.data_classes import dataclass

# Parts of the program's time above which something is worth a note.
MUCH = 0.1
LITTLE = 0.03
OFTEN = 3
SLOW_PRODUCT = 0.25
LARGE = 2**28
# What decisions call what they are about
_PREFIX = re.compile("^(product|correlation) ")


@dataclass(frozen=True)
class Advice:
    """A piece of advice.

    Attributes
    ----------
    text
        What to do, and why.
    line
        The user's line that it is about; empty where it is about none.
    page
        The page of the documentation that has more.
    """

    text: str
    line: str = ""
    page: str = ""


def advice_for(findings: Findings) -> list[Advice]:
    """Return the advice of the rules for a program, in their order."""
    return [advice for rule in RULES for advice in rule(findings)]


def _compiled_again(findings: Findings) -> Iterator[Advice]:
    names = Counter(f.name for f in findings.functions if f.compilation.whole)
    for name, count in names.items():
        took = sum(f.compilation.whole for f in findings.functions if f.name == name)
        if count > OFTEN and share_of(findings, took) > LITTLE:
            yield Advice(
                f"{count} functions were compiled here, in {took:.2f} s: compile one before, and "
                "call it with what differs",
                name,
                "compile_time",
            )


def _compiling_is_most(findings: Findings) -> Iterator[Advice]:
    if findings.compiling > findings.calling and share_of(findings, findings.compiling) > MUCH:
        yield Advice(
            f"compilation took {findings.compiling:.2f} s, calls {findings.calling:.2f} s. What was "
            "compiled is kept on disk: after a first run, what is left is Python's work, once for "
            "each function, so that fewer functions start faster",
            page="explanation/compile_time",
        )


def _python_runs(findings: Findings) -> Iterator[Advice]:
    for function in findings.functions:
        for call in function.python:
            if share_of(findings, call.seconds) > LITTLE:
                yield Advice(
                    f"Python runs {call.operation}, {call.seconds:.2f} s: "
                    "theano.link.native.report(f) says why",
                    call.line,
                    "limitations",
                )


def _products_that_wait_for_nothing(findings: Findings) -> Iterator[Advice]:
    for function in findings.functions:
        for loop in function.report.loops if function.report else ():
            if loop.time is None or share_of(findings, loop.time.seconds) < LITTLE:
                continue
            products = (*loop.products_given, *loop.products_left)
            lines = {p.expression: p.line for p in products if not p.states}
            stayed = {_PREFIX.sub("", d.subject): d.detail for d in loop.refused}
            # a product that was merged with another is no longer among those that are left
            waiting = {p.expression: "" for p in loop.products_left if not p.states}
            for expression, reason in (waiting | stayed).items():
                if expression in lines:
                    yield Advice(
                        f"the product {expression} of loop {loop.name} waits for no earlier step, "
                        f"and is computed in each all the same: {reason or 'nothing says why'}",
                        lines[expression],
                        "loops",
                    )


def _slow_products(findings: Findings) -> Iterator[Advice]:
    best = max(findings.best.values(), default=0.0)
    for statement, place in statements_of(findings):
        slow = 0 < statement.gflops < SLOW_PRODUCT * best
        if "product" in statement.text and slow and share_of(findings, statement.seconds) > MUCH:
            yield Advice(
                f"a product of {place} runs at {statement.gflops:.0f} of {best:.0f} GFLOP/s: it has "
                "few rows, so that its matrix is read for little work, and a larger batch costs hardly "
                "more time; or its threads wait for processors that others use, which "
                "OMP_NUM_THREADS=1 shows",
                statement.line,
                "performance",
            )


def _steps_do_little(findings: Findings) -> Iterator[Advice]:
    for function in findings.functions:
        for loop in function.loops:
            between = loop.overhead_per_step * loop.steps
            if between > loop.seconds / 3 and share_of(findings, between) > LITTLE:
                yield Advice(
                    f"loop {loop.name} spends {between:.2f} of {loop.seconds:.2f} s between its steps, "
                    f"{1e6 * loop.overhead_per_step:.1f} µs each time: its steps do little, or its "
                    "threads wait for a processor that others use; OMP_NUM_THREADS=1 shows which",
                    page="explanation/native_engine",
                )


def _calls_do_little(findings: Findings) -> Iterator[Advice]:
    for function in findings.functions:
        outside = function.seconds - function.inside
        if outside > function.seconds / 2 and share_of(findings, outside) > MUCH:
            yield Advice(
                f"{outside:.2f} of {function.seconds:.2f} s of calls are Python's, which checks and "
                "converts what is given: do more in a call, such as all steps of a loop by "
                "theano.scan, and keep arrays in shared variables",
                function.name,
                "loops",
            )


def _doubles(findings: Findings) -> Iterator[Advice]:
    single, double = findings.best.get("float32", 0.0), findings.best.get("float64", 0.0)
    products = sum(s.seconds for f in findings.functions for s in _products(f))
    if config.floatX == "float64" and share_of(findings, products) > MUCH:
        yield Advice(
            f"products take {products:.2f} s, and floatX is float64: with float32 they run at up to "
            f"{single:.0f} instead of {double:.0f} GFLOP/s, and arrays are half as large",
            page="reference/flags",
        )


def _products(function: FunctionTimes) -> Iterator:
    yield from (s for loop in function.loops for s in loop.statements if "product" in s.text)
    yield from (s for s in function.statements if "product" in s.text)


def _much_memory(findings: Findings) -> Iterator[Advice]:
    for function in findings.functions:
        if function.bytes > LARGE and function.loops:
            yield Advice(
                f"a function with loops keeps {function.bytes / 2**20:.0f} MB: the flag scan.save "
                "says what is saved for gradients, and scan_checkpoints saves only every n-th step",
                function.name,
                "gradients",
            )


Rule = Callable[[Findings], Iterator[Advice]]

RULES: tuple[Rule, ...] = (
    _compiled_again,
    _compiling_is_most,
    _python_runs,
    _products_that_wait_for_nothing,
    _slow_products,
    _steps_do_little,
    _calls_do_little,
    _doubles,
    _much_memory,
)
