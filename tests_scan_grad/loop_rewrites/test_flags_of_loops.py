"""Each flag of loops with each network: what it makes runs natively, and computes the same."""

import json
from functools import cache

import numpy as np
import pytest

import theano
from tests_scan_grad.flags.settings import values_of
from tests_scan_grad.fresh_process import printed_by
from tests_scan_grad.loop_rewrites.test_golden_loops import FUNCTIONS
from tests_scan_grad.networks import array
from theano.link.native import report

ONE_STEP, FEW_STEPS = 1e-6, 600 / 2**20
# values that say more of loops of this size than those that are tried of all flags
VALUES = {"scan.push_out_memory": (ONE_STEP, FEW_STEPS, 1.0)}
FLAGS = [f for f in theano.config.flags.values() if f.name.startswith("scan.") and not f.no_effect]
SETTINGS = [
    {flag.name: value}
    for flag in FLAGS
    for value in VALUES.get(flag.name, values_of(flag))
    if flag.mutable and value != theano.config.read(flag.name)
]
PAIRS = [
    {"scan.save": save, "scan.push_out_memory": memory}
    for save in ("all", "none")
    for memory in VALUES["scan.push_out_memory"]
]


def scan(*args, **options):
    """``theano.scan`` without its updates."""
    return theano.scan(*args, **options)[0]


def compiled(name, settings):
    """A network's function with the native engine, and values for its inputs."""
    build, results = FUNCTIONS[name]
    with theano.config.change_flags(**settings):
        network = build(scan)
        wanted = results(network)
        function = theano.function(network.inputs, wanted, mode="NATIVE", on_unused_input="ignore")
    missing = network.inputs[len(network.values) :]
    like = dict(zip(network.inputs, network.values, strict=False))
    # a direction for each weight
    directions = [array(*like[network.weights[0]].shape, seed=99) for _ in missing]
    return function, [*network.values, *directions]


@cache
def without_flags(name):
    """The results of a network's function, and which of its loops Python runs."""
    function, values = compiled(name, {})
    return function(*values), loops_of_python(function)


def loops_of_python(function):
    return {str(loop) for loop in report(function).loops if loop.reason is not None}


def assert_as_without(name, settings):
    function, values = compiled(name, settings)
    expected, of_python = without_flags(name)
    assert loops_of_python(function) <= of_python, report(function)
    for got, right in zip(function(*values), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)


def named(settings):
    return ",".join(f"{name}={value}" for name, value in settings.items())


@pytest.mark.parametrize("settings", SETTINGS, ids=named)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_flag_of_loops_makes_no_loop_of_python(name, settings):
    assert_as_without(name, settings)


@pytest.mark.parametrize("settings", PAIRS, ids=named)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_flags_of_loops_make_no_loop_of_python(name, settings):
    assert_as_without(name, settings)


OF_A_PROCESS = [
    f"{flag.name}={value}"
    for flag in FLAGS
    for value in values_of(flag)
    if not flag.mutable and value != theano.config.read(flag.name)
]
ALL_NETWORKS = f"""
import json
from {__name__} import FUNCTIONS, compiled, loops_of_python
for name in FUNCTIONS:
    function, values = compiled(name, {{}})
    results = [result.tolist() for result in function(*values)]
    print(json.dumps([name, sorted(loops_of_python(function)), results]))
"""


@pytest.mark.parametrize("setting", OF_A_PROCESS)
def test_a_flag_of_a_process_makes_no_loop_of_python(setting):
    lines = printed_by(ALL_NETWORKS, THEANO_FLAGS=setting)
    assert len(lines) == len(FUNCTIONS)
    for name, of_python, results in map(json.loads, lines):
        expected, before = without_flags(name)
        assert set(of_python) <= before
        for got, right in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)
