"""Rewritten graphs on disk: what is read is what would be made, and only where nothing changed."""

from __future__ import annotations

import json
import os
import tracemalloc

import numpy as np
import pytest
from pytensor.graph.fg import FunctionGraph

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from theano.link.native import linker
from theano.rewriting import equilibrium
from theano.rewriting.disk import cached_graphs, graph_pickles, sealed_files
from theano.rewriting.disk.building_folders import remove_leftovers

PROGRAM = """
import json, os
import theano
from theano.link.native import linker
from theano.rewriting import equilibrium
from theano.rewriting.disk import cached_graphs
from tests_scan_grad.timing.programs import compile_networks, network_programs

cached_graphs.SECONDS_WORTH_STORING = 0
rounds = []
until = equilibrium._Run.until_nothing_changes
equilibrium._Run.until_nothing_changes = lambda run: rounds.append(1) or until(run)
lowered = []
make_program = linker.make_program
linker.make_program = lambda *args: lowered.append(1) or make_program(*args)
made = []
function = theano.function
theano.function = lambda *args, **kwargs: made.append(function(*args, **kwargs)) or made[0]
network = compile_networks.NETWORKS[os.environ["NETWORK"]]()
step = network_programs.ours(network, mode="NATIVE")
of_outer_graph, programs = len(rounds), len(lowered)
arrays = network.arrays()
costs = [float(step(arrays)), float(step(arrays))]
order = [str(node.op) for node in made[0].maker.fgraph.toposort()]
report = str(theano.scan_module.scan_report(made[0]))
engine = str(theano.link.native.report(made[0])), theano.link.native.source(made[0])
print(json.dumps([of_outer_graph, programs, costs, order, report, engine]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Provide a folder in which graphs are cached, however little time they took."""
    monkeypatch.setattr(cached_graphs, "SECONDS_WORTH_CACHING", 0)
    # other tests may have registered their own rewrites, which do not change either
    known = graph_pickles.KNOWN_CODE | {"tests_scan_grad"}
    monkeypatch.setattr(graph_pickles, "KNOWN_CODE", known)
    monkeypatch.setattr(theano.config, "cache_optimizations", True)
    monkeypatch.setattr("theano.compile.mode.folder_of_graphs", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def rounds(monkeypatch):
    """One item for each equilibrium that rewrites a graph."""
    found = []
    until = equilibrium._Run.until_nothing_changes
    monkeypatch.setattr(
        equilibrium._Run,
        "until_nothing_changes",
        lambda run: found.append(run.rewriter.name) or until(run),
    )
    return found


@pytest.fixture
def lowered(monkeypatch):
    """One item for each graph that is lowered to a program."""
    found = []
    make_program = linker.make_program
    monkeypatch.setattr(
        linker, "make_program", lambda *args: found.append(1) or make_program(*args)
    )
    return found


def files(folder, kind="graph"):
    return sorted(path.name for path in folder.glob(f"{kind}-*"))


@pytest.mark.parametrize("network", ["lstm-2", "perceptron"])
def test_the_next_process_reads_the_same_graph(network, tmp_path):
    variables = {"PYTENSOR_FLAGS": f"base_compiledir={tmp_path}", "NETWORK": network}
    first = json.loads(printed_by(PROGRAM, **variables)[-1])
    second = json.loads(printed_by(PROGRAM, **variables)[-1])
    assert first[0] > second[0]
    assert (first[1], second[1]) == (1, 0)
    assert second[2:] == first[2:]


def compiled(power=2.0, **options):
    x = T.vector("x")
    weight = theano.shared(np.ones(3), "weight")
    cost = ((x * weight) ** power).sum()
    update = (weight, weight - 0.1 * theano.grad(cost, weight))
    return theano.function([x], cost, updates=[update], mode="NATIVE", **options), weight


def compiled_in_turn(rounds, powers=(2.0, 2.0), between=lambda weight: None):
    """Functions compiled in the same line, and how often a graph was rewritten for each."""
    found = []
    for power in powers:
        rounds.clear()
        function, weight = compiled(power)
        found.append((function, weight, len(rounds)))
        between(weight)
    return found


def test_a_graph_is_rewritten_once(folder, rounds):
    (first, weight, made), (second, other, read) = compiled_in_turn(rounds)
    assert made and not read and len(files(folder)) == 1
    value = np.arange(3.0)
    np.testing.assert_array_equal(first(value), second(value))
    np.testing.assert_array_equal(weight.get_value(), other.get_value())
    np.testing.assert_array_equal(first(value), second(value))


def test_values_of_shared_variables_do_not_matter_and_constants_do(folder, rounds):
    def clear(weight):
        weight.set_value(np.zeros(3))

    _, (_, _, read), (cubed, weight, made) = compiled_in_turn(rounds, (2.0, 2.0, 3.0), clear)
    assert not read and made and len(files(folder)) == 2
    weight.set_value(np.ones(3))
    np.testing.assert_allclose(cubed([1.0, 2.0, 3.0]), 36.0)


def test_flags_and_modes_matter(folder, rounds):
    for memory in (0.0, 1.0):
        with theano.config.change_flags(**{"scan.push_out_memory": memory}):
            compiled()
    assert len(files(folder)) == 2
    x = T.vector("x")
    for mode in ("NATIVE", theano.Mode("native", "fast_run").excluding("canonicalize")):
        theano.function([x], x + 0, mode=mode)
    assert len(files(folder)) == 4


def test_a_damaged_file_is_written_again(folder, rounds):
    def damage(_):
        (path,) = folder.glob("graph-*")
        content = path.read_bytes()
        assert content not in damaged
        damaged.append(content[:100] + b"damage" + content[106:])
        path.write_bytes(damaged[-1])

    damaged = []
    _, (function, _, made) = compiled_in_turn(rounds, between=damage)
    assert made and len(damaged) == 2
    np.testing.assert_allclose(function([1.0, 2.0, 3.0]), 14.0)


def test_what_the_user_wrote_is_not_stored(folder, monkeypatch):
    known = graph_pickles.KNOWN_CODE - {"tests_scan_grad"}
    monkeypatch.setattr(graph_pickles, "KNOWN_CODE", known)

    @theano.compile.ops.as_op(itypes=[T.dvector], otypes=[T.dvector])
    def doubled(value):
        return 2 * value

    x = T.dvector("x")
    function = theano.function([x], doubled(x) + 1, mode="NATIVE")
    assert files(folder) == []
    np.testing.assert_array_equal(function([1.0]), [3.0])


def test_the_oldest_go_when_there_are_many(folder, monkeypatch):
    found, size = [], 0
    # what is read counts as used; 0 is no bound
    for power, bound in ((2.0, 0), (3.0, 2.5), (2.0, 2.5), (4.0, 2.5), (5.0, 0)):
        monkeypatch.setattr(theano.config, "cache_size", bound * size / sealed_files.MEBIBYTE)
        compiled(power)
        found.append({*files(folder), *files(folder, "program")})
        if len(found) == 1:
            size = sum((folder / name).stat().st_size for name in found[0])
    assert [*map(len, found)] == [2, 4, 4, 4, 6]
    assert found[0] <= found[3] and not found[1] <= found[3]


def test_a_folder_stays_within_its_size_though_few_files_have_all_looked_at(tmp_path, monkeypatch):
    looks = []
    keep_to_size = sealed_files.keep_to_size
    monkeypatch.setattr(
        sealed_files, "keep_to_size", lambda *given: (looks.append(1), keep_to_size(*given))
    )
    monkeypatch.setattr(theano.config, "cache_size", 0.125)
    content = np.random.default_rng(1).bytes(400)
    sizes = []
    for number in range(800):
        sealed_files.write_sealed(tmp_path, f"graph-{number:x}", content)
        if number % 20 == 19:
            sizes.append(sum(path.stat().st_size for path in tmp_path.iterdir()))
    assert sizes[-1] > 2**16 and max(sizes) <= 2**17
    assert 100 < len(looks) < 750


@pytest.mark.parametrize(
    "look", [lambda folder: sealed_files.keep_to_size(folder, 2**20), remove_leftovers]
)
def test_a_look_at_a_full_folder_takes_little_memory(look, tmp_path):
    for number in range(4000):
        (tmp_path / f"graph-{number:032x}").touch()
    tracemalloc.start()
    try:
        look(tmp_path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # the memory of calls is measured while it happens next to them
    assert most < 4000 * 64


def test_what_was_used_last_stays(tmp_path):
    names = [f"graph-{number}" for number in range(10)]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (number, number))
    os.utime(tmp_path / "graph-0", (100, 100))

    def left(most):
        sealed_files.keep_to_size(tmp_path, most)
        return sorted(path.name for path in tmp_path.iterdir())

    assert left(1000) == names
    assert left(550) == ["graph-0", *names[6:]]
    assert left(0) == ["graph-0"]


def test_without_the_flag_nothing_is_stored(folder, monkeypatch):
    monkeypatch.setattr(theano.config, "cache_optimizations", False)
    compiled()
    assert files(folder) == []


def test_the_loops_of_a_graph_that_was_read_are_reported(folder, rounds):
    def reported():
        x, w = T.matrix("x"), theano.shared(np.eye(3) / 2, "w")
        h, _ = theano.scan(
            lambda v, h, w: T.tanh(v + h.dot(w)),
            sequences=[x],
            outputs_info=[T.zeros_like(x[0])],
            non_sequences=[w],
            name="simple",
        )
        function = theano.function([x], [h, theano.grad(h.sum(), w)], mode="NATIVE")
        return function(np.eye(3)), str(theano.scan_module.scan_report(function))

    found = []
    for _ in range(2):
        rounds.clear()
        found.append((*reported(), len(rounds)))
    (values, report, made), (again, same, read) = found
    assert read < made and same == report and "simple" in report
    for value, other in zip(values, again, strict=True):
        np.testing.assert_array_equal(value, other)


def test_a_graph_is_lowered_once(folder, lowered):
    (first, *_), (second, *_) = (compiled() for _ in range(2))
    assert len(lowered) == 1 and len(files(folder, "program")) == 1
    value = np.arange(3.0)
    for _ in range(2):
        np.testing.assert_array_equal(first(value), second(value))


@pytest.mark.parametrize("whole", [False, True])
def test_a_program_that_cannot_be_read_is_made_again(folder, lowered, whole):
    compiled()
    (path,) = folder.glob("program-*")
    if whole:
        sealed_files.write_sealed(folder, path.name, b"no program")
    else:
        path.write_bytes(path.read_bytes()[:-1])
    function, _ = compiled()
    assert len(lowered) == 2
    np.testing.assert_allclose(function([1.0, 2.0, 3.0]), 14.0)


def test_results_that_the_caller_borrows_are_another_program(folder, lowered):
    found = []
    for borrow in (False, True, False):
        x = T.vector("x")
        out = theano.Out(x, borrow=borrow)
        function = theano.function([theano.In(x, borrow=True)], [out, x * 2], mode="NATIVE")
        value = np.arange(3.0)
        found.append(np.shares_memory(function(value)[0], value))
    assert found == [False, True, False]
    assert len(files(folder)) == 1 and len(lowered) == 2


def test_inputs_that_may_be_overwritten_are_another_program(folder, lowered):
    found = []
    for mutable in (False, True, False):
        x = T.vector("x")
        options = {"mutable": True, "borrow": True} if mutable else {}
        function = theano.function([theano.In(x, **options)], x * 2, mode="NATIVE")
        value = np.arange(3.0)
        found.append(np.shares_memory(function(value), value))
    assert found == [False, True, False] and len(lowered) == 2


def test_a_failing_step_raises_the_same_from_a_stored_program(folder, lowered):
    made = []
    for _ in range(3):
        x, k = T.vector("x"), T.lvector("k")
        picked, _ = theano.scan(lambda k, x: x[k], sequences=[k], non_sequences=[x])
        lowered.clear()
        function = theano.function([x, k], picked, mode="NATIVE")
        # a call that fails may have steps lowered, too
        made.append(len(lowered))
        np.testing.assert_array_equal(function([1.0, 2.0], [1, 0]), [2.0, 1.0])
        with pytest.raises(IndexError):
            function([1.0, 2.0], [1, 2])
    assert made[0] == 1 and made[-1] == 0


@pytest.mark.parametrize("written", [True, False])
def test_a_graph_that_was_changed_has_no_stored_program(folder, written):
    rewriter = theano.Mode("native").excluding("inplace").optimizer
    x = T.vector("x")
    graph = FunctionGraph([x], [T.exp(x) + 1])
    rewriter.rewrite(graph)
    (stored,) = [f for f in graph._features if isinstance(f, cached_graphs.CachedAs)]
    if written:
        assert stored.write() and files(folder) == [stored.name]
    graph.replace(graph.outputs[0], graph.outputs[0] * 2, import_missing=True)
    assert stored.name is None and not stored.write()
    assert len(files(folder)) == written
