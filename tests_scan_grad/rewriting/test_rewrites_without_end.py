"""Rules of users that would be applied for ever, that fail, and that DebugMode runs."""

import logging

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import run_python
from theano import gof

RULES = """
import numpy as np, theano, theano.tensor as T
from theano import gof

@gof.local_optimizer([T.sin])
def to_cosine(node):
    return [T.cos(node.inputs[0] - np.pi / 2)]

@gof.local_optimizer([T.cos])
def to_sine(node):
    return [T.sin(node.inputs[0] + np.pi / 2)]

@gof.local_optimizer([T.tan])
def once_more(node):
    return [T.tan(node.inputs[0])]

x = T.dvector("x")
"""

STAGES = ["canonicalize", "stabilize", "specialize", "uncanonicalize", "useless"]


@pytest.mark.parametrize("stage", STAGES)
def test_rules_that_undo_each_other_end_and_are_named(stage):
    program = f"""{RULES}
for rule in (to_cosine, to_sine, once_more):
    T.opt.register_{stage}(rule)
for written in (T.sin, T.tan):
    print(theano.function([x], written(x))([1.0]) - getattr(np, written.name)(1.0))
"""
    output = run_python(program.replace("written.name", "str(written).lower()"))
    values = [line for line in output.stdout.splitlines() if line.startswith("[")]
    assert np.allclose([float(value.strip("[]")) for value in values], 0, atol=1e-12)
    assert len(values) == 2
    undone, repeated = [line for line in output.stderr.splitlines() if "without end" in line]
    assert "to_cosine (" in undone and "to_sine (" in undone
    assert "once_more (" in repeated


def test_an_equilibrium_of_ones_own_ends(caplog):
    @gof.local_optimizer([T.sin])
    def to_cosine(node):
        return [T.cos(node.inputs[0])]

    @gof.local_optimizer([T.cos])
    def to_sine(node):
        return [T.sin(node.inputs[0])]

    rules = gof.EquilibriumOptimizer([to_cosine, to_sine], max_use_ratio=10)
    x = T.dvector("x")
    with caplog.at_level(logging.ERROR), theano.config.change_flags(on_opt_error="warn"):
        theano.function([x], T.sin(x), mode=theano.Mode("py", rules))
    assert "max'ed out" in caplog.text or "without end" in caplog.text


def test_debug_mode_runs_rules_of_users_and_finds_wrong_ones():
    program = f"""{RULES}
@gof.local_optimizer([T.sin])
def wrong(node):
    return [T.cos(node.inputs[0])]

T.opt.register_specialize(wrong)
theano.function([x], T.sin(x), mode="DebugMode")([1.0])
"""
    errors = run_python(program).stderr
    assert "BadOptimization" in errors and "wrong" in errors.split("BadOptimization", 1)[1]


def test_the_log_of_a_rule_that_fails_begins_with_it():
    program = f"""{RULES}
@gof.local_optimizer([T.sin])
def fails(node):
    raise RuntimeError("its own mistake")

T.opt.register_canonicalize(fails)
class Own(theano.Op):
    __props__ = ()
    itypes, otypes = (T.dvector,), (T.dvector,)
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] + 0
theano.function([x], Own()(T.sin(x)))
"""
    errors = run_python(program).stderr
    assert "its own mistake" in errors
    assert "NotCached" not in errors
