"""C stands in one package of the native engine, and is read in another: everything before is data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests_scan_grad.fresh_process import ROOT

ENGINE = ROOT / "theano" / "link" / "native"
RENDERER = "render"
# what writes C, and what reads it
WITH_C = (RENDERER, "llvm")

# what no text in another language, nor the name of anything, has
LOOKS_LIKE_C = re.compile(
    r"""
    \S;\s*$                                 # the end of a statement
    | \b(for|if|while|switch)\s\(           # its beginning
    | \bconst\s | \bunsigned\s | \bu?int\d*_t\b | \((double|float|int|void|char)\b[\s*]*\)
    | \w->\w                                # parts of structures
    | \bTN_\w | \btn_\w+\( | __builtin | __asm__ | \#(include|define|if|endif)\b
    | \{\d\}\s*[-+*/%<>=!&|?] | [-+*/%<>=!&|?]\s*\{\d\}   # a template of an expression
    """,
    re.VERBOSE,
)


def texts_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a module but for docstrings, those with values in them as a whole."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            left_out.update(id(part) for part in node.values)
            parts = [str(p.value) if isinstance(p, ast.Constant) else "x" for p in node.values]
            yield node.lineno, "".join(parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in left_out:
                yield node.lineno, node.value


def c_in(source: str) -> list[tuple[int, str]]:
    """The texts of a module that look like C, with their lines."""
    return [found for found in texts_of(ast.parse(source)) if LOOKS_LIKE_C.search(found[1])]


def modules() -> Iterator[str]:
    """The modules of the engine outside of the packages that know C."""
    for path in sorted(ENGINE.rglob("*.py")):
        name = path.relative_to(ENGINE).as_posix()
        if name.split("/")[0] not in WITH_C:
            yield name


def test_c_stands_in_one_package():
    found = {name: c_in((ENGINE / name).read_text()) for name in modules()}
    assert not {name: texts for name, texts in found.items() if texts}


def test_nothing_before_the_renderer_imports_it():
    """Lowerings, passes and statements are written for any renderer."""
    for name in modules():
        if name.split("/")[0] in ("ir", "statements", "lowering", "passes", "graph"):
            assert "theano.link.native.render" not in (ENGINE / name).read_text(), name


@pytest.mark.parametrize(
    "source",
    [
        'x = "return status;"',
        'x = f"{name}[{k}] = {value};"',
        'x = f"for (int64_t i = 0; i < {n}; i++) {{"',
        'x = "runtime->clip"',
        'x = Call("TN_BYTES", ())',
        'x = Call("tn_signed(n)", ())',
        'x = f"(double){a}"',
        'x = "const " + kind',
        'x = "{0} >= 0"',
        'x = "-{0}"',
        'x = "__builtin_inf()"',
        'x = {"int64": "int64_t", "uint8": "unsigned char"}',
        'x = f"#if !defined {name}"',
    ],
)
def test_c_is_found(source):
    assert c_in(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring: for (;;) x;"""',
        'x = f"{a} + {b}, which does not overflow"',
        'x = "; ".join(parts)',
        'x = "sizes that a step chooses from (if it does)"',
        'x = f"reduce; {name}"',
        'x = "{}.shape[{}]".format',
        # a flag of the compiler
        'x = f"-DTN_PART={part}"',
    ],
)
def test_other_texts_are_not(source):
    assert not c_in(source)


def test_the_renderer_has_it():
    sources = [path.read_text() for path in sorted((ENGINE / RENDERER).rglob("*.py"))]
    assert sum(len(c_in(source)) for source in sources) > 500
