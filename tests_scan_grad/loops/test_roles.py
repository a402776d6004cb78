"""The order of a ``Scan`` op's arguments: known in one place, and as PyTensor has it."""

import re
from itertools import count
from pathlib import Path

import pytest

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import loops_as_built, theano_scan
from theano.scan_module.loop.arguments import unpack
from theano.scan_module.loop.roles import MIT_MOT, Roles, given_by, given_to, places_of_inputs
from theano.tensor.shared_randomstreams import RandomStreams

PACKAGE = Path(theano.__file__).parent
# What PyTensor's op has for decoding its arguments by hand.
BY_HAND = re.compile(
    r"\.n_(seqs|mit_mot|mit_sot|sit_sot|nit_sot|untraced_sit_sot|non_seqs)\b|\.as_while\b"
    r"|\b(mit_mot|mit_sot|sit_sot)_(in|out)_slices\b|\.tap_array\b|_arg_offset\b"
    r"|\.(outer|inner)_(seqs|mitmot|mitsot|sitsot|nitsot|untraced_sit_sot|non_seqs)(_outs)?\b"
)
# Why a module decodes them nevertheless.
ALLOWED = {
    "printing/names.py": "how graphs are printed lies below loops, and knows PyTensor's only",
}


def drawing(scan):
    """A loop with a generator, which is an untraced state."""
    stream = RandomStreams(1)
    x = T.vector("x")
    walk = scan(lambda u, s: s + u * stream.normal(()), x, T.zeros(()))
    return networks.network([x], walk[-1], [x], [(4,)])


BUILDERS = [
    *(networks.lstm, networks.taps, networks.stopping, networks.truncated, networks.nested),
    drawing,
]


def nodes_of(build):
    return loops_as_built(build(theano_scan))


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_what_is_sorted_by_role_is_the_same_list_in_order(build):
    for node in nodes_of(build):
        roles = Roles.of(node.op)
        assert roles.outer_inputs(node.inputs).in_order() == node.inputs
        assert roles.outer_outputs(node.outputs).in_order() == node.outputs
        assert roles.inner_inputs(node.op.inner_inputs).in_order() == list(node.op.inner_inputs)
        assert roles.inner_outputs(node.op.inner_outputs).in_order() == list(node.op.inner_outputs)


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_roles_are_those_that_pytensor_describes(build):
    for node in nodes_of(build):
        assert Roles.of(node.op).info() == node.op.info
        assert unpack(node).roles == Roles.of(node.op)


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_each_role_is_what_pytensor_finds(build):
    for node in nodes_of(build):
        op, given, results = node.op, given_to(node), given_by(node)
        roles = Roles.of(op)
        assert given.sequences == op.outer_seqs(node.inputs)
        assert given.states == [
            *op.outer_mitmot(node.inputs),
            *op.outer_mitsot(node.inputs),
            *op.outer_sitsot(node.inputs),
        ]
        assert given.trace_lengths == op.outer_nitsot(node.inputs)
        assert given.untraced == op.outer_untraced_sit_sot(node.inputs)
        assert given.invariants == op.outer_non_seqs(node.inputs)
        assert results.traces == op.outer_nitsot_outs(node.outputs)
        assert results.untraced == op.outer_untraced_sit_sot_outs(node.outputs)
        assert [s.kind for s in roles.states].count(MIT_MOT) == roles.mit_mots == op.info.n_mit_mot
        places = zip(places_of_inputs(op).in_order(), count(), strict=False)
        assert all(place == position for place, position in places)


def test_a_loop_that_may_stop_says_so():
    loops = nodes_of(networks.stopping)
    assert [Roles.of(node.op).may_stop for node in loops] == [True, False]


def modules():
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        if not name.startswith(("scan_module/loop/", "pytensor_internals/")):
            yield name, file.read_text()


def test_no_other_module_decodes_arguments_by_hand():
    found = {name for name, text in modules() if BY_HAND.search(text)}
    assert found == set(ALLOWED)
