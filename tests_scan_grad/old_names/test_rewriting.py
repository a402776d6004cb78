"""Rewrites that users write, collections of them, and what is attached to a graph."""

import pytensor.compile.mode
import pytest

import theano
import theano.tensor as T
from theano import gof
from theano.gof import FunctionGraph, local_optimizer
from theano.gof.opt import PatternSub, TopoOptimizer, check_chain, in2out, out2in


def operators(graph):
    return [node.op for node in graph.toposort()]


@local_optimizer([T.exp])
def exp_to_sinh(node):
    return [T.sinh(node.inputs[0])] if node.op == T.exp else False


class CosToSin(gof.LocalOptimizer):
    def tracks(self):
        return [T.cos]

    def transform(self, node):
        return [T.sin(node.inputs[0])] if node.op == T.cos else False


class WithGraph(gof.LocalOptimizer):
    """A rewrite with PyTensor's signature."""

    def transform(self, fgraph, node, enforce_tracks=True):
        return node.op == T.cos and len(fgraph.apply_nodes) == 1 and [T.sin(node.inputs[0])]


class Nothing(gof.Optimizer):
    """A rewrite that only counts its uses."""

    def __init__(self):
        self.uses = 0

    def apply(self, fgraph):
        self.uses += 1


@pytest.mark.parametrize("rewrite", [exp_to_sinh, CosToSin(), WithGraph()])
def test_a_rewrite_is_asked_with_and_without_the_graph(rewrite):
    x = T.dvector("x")
    operator = T.exp if rewrite is exp_to_sinh else T.cos
    graph = FunctionGraph([x], [operator(x)])
    (node,) = graph.apply_nodes
    alone = rewrite.transform(node)
    within = rewrite.transform(graph, node)
    assert alone[0].owner.op == within[0].owner.op != operator
    rewritten = in2out(rewrite)
    rewritten.optimize(graph)
    assert operators(graph) == [alone[0].owner.op]


def test_a_rewrite_sees_the_graph_and_who_uses_a_variable():
    x = T.dvector("x")
    seen = {}

    @local_optimizer([T.exp])
    def only_looks(node):
        if node.op == T.exp:
            (user,) = [user for user, _ in node.outputs[0].clients if user != "output"]
            seen["clients"] = node.outputs[0].clients
            seen["user"] = user.op
            seen["of input"] = len(node.inputs[0].clients)
            seen["graph"] = node.fgraph
        return False

    y = T.exp(x)
    graph = FunctionGraph([x], [y, T.sin(y), T.cos(x)], clone=False)
    TopoOptimizer(only_looks).optimize(graph)
    assert seen["graph"] is graph and seen["user"] == T.sin and seen["of input"] == 2
    assert ("output", 0) in seen["clients"] and len(seen["clients"]) == 2
    assert not hasattr(y.owner, "fgraph") and not hasattr(y, "clients")


def test_local_optimizer_refuses_what_is_no_operator():
    with pytest.raises(ValueError, match="None for all"):
        local_optimizer([])
    with pytest.raises(ValueError, match="not 'exp'"):
        local_optimizer(["exp"])


def test_groups_and_orders():
    x = T.dvector("x")
    for make in (in2out, out2in):
        graph = FunctionGraph([x], [T.exp(T.cos(x))])
        make(exp_to_sinh, CosToSin()).optimize(graph)
        assert operators(graph) == [T.sin, T.sinh]
    with pytest.raises(ValueError, match="order"):
        TopoOptimizer(exp_to_sinh, order="sideways")


def test_pattern_with_constraint_number_and_shared_parts():
    x = T.dvector("x")
    allowed = {"pattern": "x", "constraint": lambda variable: variable.name == "s"}
    s, t = T.dscalars("s", "t")
    graph = FunctionGraph([s, t], [s**2, t**2, s**3], clone=False)
    in2out(PatternSub((T.pow, allowed, 2), "x")).optimize(graph)
    assert graph.outputs[0] is s and len(graph.apply_nodes) == 2

    inverse = (T.exp, (T.log, "x"))
    for shared, remaining in ((False, 2), (True, 1)):
        graph = FunctionGraph([x], [T.exp(T.log(x)), T.log(x)], clone=True)
        gof.MergeOptimizer().optimize(graph)
        in2out(PatternSub(inverse, "x", allow_multiple_clients=shared)).optimize(graph)
        assert len(graph.apply_nodes) == remaining
    assert "-> x" in str(PatternSub(inverse, "x"))
    assert str(PatternSub(inverse, "x", name="inverse")) == "inverse"
    with pytest.raises(TypeError, match="begins with an operator"):
        PatternSub("x", "y")


def test_sequence_of_rewrites_by_positions():
    db = gof.SequenceDB()
    first, second, third = Nothing(), Nothing(), Nothing()
    db.register("second", second, 2, "wanted")
    db.register("first", first, 1, "wanted", "special")
    db.register("third", third, "last", "other")
    assert list(db.query(gof.Query(["wanted", "other"]))) == [first, second, third]
    assert list(db.query(gof.Query(["wanted"], exclude=["special"]))) == [second]
    assert list(db.query(gof.Query(["wanted"], position_cutoff=1.5))) == [first]
    db.query("+special").optimize(FunctionGraph([], []))
    assert (first.uses, second.uses) == (1, 0)
    with pytest.raises(ValueError, match="The name"):
        db.register("first", Nothing(), 3)
    with pytest.raises(ValueError, match="The tag"):
        db.register("fourth", Nothing(), 3, "first")


def test_rewrites_that_are_applied_until_nothing_changes():
    x = T.dvector("x")
    db = gof.EquilibriumDB()
    at_the_end = Nothing()
    db.register("a", PatternSub((T.exp, "x"), (T.cos, "x")), "wanted")
    db.register("b", CosToSin(), "wanted")
    db.register("c", at_the_end, "wanted", final_opt=True)
    graph = FunctionGraph([x], [T.exp(x)])
    db.query("+wanted").optimize(graph)
    assert operators(graph) == [T.sin] and at_the_end.uses


def test_group_and_proxy_of_rewrites():
    group = gof.LocalGroupDB()
    group.register("sinh", exp_to_sinh, "wanted")
    group.register("sin", CosToSin(), "wanted")
    x = T.dvector("x")
    graph = FunctionGraph([x], [T.exp(T.cos(x))])
    gof.TopoDB(gof.ProxyDB(group)).query("+wanted").optimize(graph)
    assert operators(graph) == [T.sin, T.sinh]
    with pytest.raises(TypeError, match="collection"):
        gof.ProxyDB(exp_to_sinh)


@pytest.fixture
def counted():
    """A rewrite of this package's modes for as long as a test runs."""
    rewrite = Nothing()
    theano.compile.optdb.register("a_test_that_counts", rewrite, 1.7, "fast_run", "only_here")
    yield rewrite
    theano.compile.optdb.remove_tags("a_test_that_counts", "fast_run", "only_here")


def test_equal_modes_share_their_rewrites_whatever_was_asked_for_between():
    mode = theano.compile.get_mode("FAST_RUN")
    before = mode.optimizer
    # no rewrite has the tag
    assert mode.including("a_tag_of_this_test").optimizer is not before
    assert theano.compile.get_mode("FAST_RUN").optimizer is before


def test_a_registered_rewrite_runs_here_and_not_in_pytensor(counted):
    x = T.dvector("x")
    mode = theano.Mode(linker="py", optimizer="fast_run")
    theano.function([x], x + 1, mode=mode)
    assert counted.uses == 1
    theano.function([x], x + 1, mode=mode.excluding("only_here"))
    assert counted.uses == 1
    theano.compile.optdb.remove_tags("a_test_that_counts", "fast_run")
    theano.function([x], x + 1, mode=mode)
    assert counted.uses == 1
    theano.compile.optdb.add_tags("a_test_that_counts", "fast_run")
    theano.function([x], x + 1, mode=mode)
    assert counted.uses == 2
    assert "a_test_that_counts" in theano.compile.optdb
    assert "a_test_that_counts" not in pytensor.compile.mode.optdb
    assert "local_add_canonizer" in theano.compile.optdb["canonicalize"]


class Half(theano.Op):
    """An operator that only this test's rewrites know."""

    __props__ = ("times",)

    def __init__(self, times):
        self.times = times

    def make_node(self, x):
        return gof.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] / 2**self.times


@T.opt.register_canonicalize
@local_optimizer([Half])
def local_two_halves(node):
    inner = node.inputs[0].owner
    if inner is not None and isinstance(inner.op, Half):
        return [Half(node.op.times + inner.op.times)(inner.inputs[0])]
    return False


@T.opt.register_specialize("at_the_end", name="local_half_of_test")
@local_optimizer([Half])
def local_half(node):
    return [node.inputs[0] * 0.5**node.op.times]


@pytest.mark.parametrize("mode", ["FAST_RUN", theano.Mode("py", "fast_run")])
def test_rewrites_that_are_registered_at_a_stage(mode):
    x = T.dvector("x")
    mode = theano.compile.mode.get_mode(mode).including("specialize", "stabilize")
    f = theano.function([x], Half(1)(Half(1)(x)), mode=mode)
    assert not any(isinstance(op, Half) for op in operators(f.maker.fgraph))
    assert f([4.0]).tolist() == [1.0]
    for tag in ("at_the_end", "local_half_of_test"):
        f = theano.function([x], Half(1)(Half(1)(x)), mode=mode.excluding(tag))
        assert [op for op in operators(f.maker.fgraph) if isinstance(op, Half)] == [Half(2)]
    assert theano.compile.optdb["specialize"]["local_half_of_test"] is local_half
    # a query by a name makes no empty entry stand before what has the name
    assert (
        "specialize" in theano.compile.optdb
        and "local_add_canonizer" not in (theano.compile.optdb["specialize"])
    )
    of_pytensor = pytensor.compile.mode.optdb["canonicalize"]
    assert "local_two_halves" not in of_pytensor
    with pytest.raises(ValueError, match="The name"):
        T.opt.register_canonicalize(local_half, name="local_add_canonizer")


class Veto(gof.Feature):
    def validate(self, fgraph):
        if len(fgraph.apply_nodes) > 2:
            raise gof.InconsistencyError("too many")


def test_features(capsys):
    x = T.dvector("x")
    y = T.exp(x)
    graph = FunctionGraph([x], [y], clone=False)
    graph.attach_feature(gof.toolbox.NodeFinder())
    graph.attach_feature(gof.toolbox.NodeFinder())
    graph.attach_feature(gof.toolbox.PrintListener())
    graph.attach_feature(Veto())
    assert graph.get_nodes(T.exp) == [y.owner]
    graph.replace_validate(y, T.sin(x))
    printed = capsys.readouterr().out
    assert "attaching" in printed and "importing: Sin(x)" in printed and "pruning" in printed
    assert not graph.get_nodes(T.exp) and len(graph.get_nodes(T.sin)) == 1
    with pytest.raises(gof.InconsistencyError, match="too many"):
        graph.replace_validate(graph.outputs[0], T.exp(T.exp(T.exp(x))))
    assert operators(graph) == [T.sin]


def test_chain():
    x = T.dvector("x")
    y = T.exp(T.log(x))
    assert check_chain(y, T.exp, T.log) and check_chain(y.owner, T.Elemwise, T.log, None)
    assert not check_chain(y, T.exp, T.exp) and not check_chain(x, T.exp)


def test_what_pytensor_made_counts_as_ours():
    x = T.dvector("x")
    f = theano.function([x], T.exp(x), mode="FAST_COMPILE")
    assert isinstance(x.type, theano.Type) and isinstance(T.exp, theano.Op)
    assert isinstance(T.constant(1.0), theano.Constant) and not isinstance(x, theano.Constant)
    assert isinstance(f.maker.fgraph, theano.FunctionGraph)


def test_debug_values():
    from theano.gof.op import debug_assert, get_debug_values

    with theano.change_flags(compute_test_value="raise"):
        x = T.dvector("x")
        x.tag.test_value = [1.0]
        (value,) = get_debug_values(x)
        assert value == [1.0]
        ((first, second),) = get_debug_values(x, 2.0)
        assert first == [1.0] and second == 2
        with pytest.raises(AttributeError, match="Argument 0.'y'. has no test value"):
            get_debug_values(T.dvector("y"))
        with pytest.raises(AssertionError, match="wrong"):
            debug_assert(False, "wrong")
    with theano.change_flags(compute_test_value="ignore"):
        assert get_debug_values(T.dvector("y")) == []


def test_a_failed_assertion_is_theanos():
    x = T.dvector("x")
    f = theano.function([x], T.opt.assert_op(x, x.size < 2))
    with pytest.raises(AssertionError, match="Theano Assert failed!"):
        f([1.0, 2.0])
    assert f([1.0]).tolist() == [1.0]


def test_theanos_names_of_rewrites():
    x = T.dvector("x")
    for name in ("local_fill_to_alloc", "local_second_to_alloc"):
        mode = theano.Mode(linker="py", optimizer="fast_compile").excluding(name)
        f = theano.function([x], T.fill(x, 2.0), mode=mode)
        assert any("second" in str(node.op).lower() for node in f.maker.fgraph.toposort())
    assert T.opt.local_add_specialize.transform((x + 0).owner) is not None
    assert str(T.opt.local_fill_sink) == "local_fill_sink"
    y = T.dvector("y")
    graph = FunctionGraph([x, y], [x * y / y], clone=False)
    T.opt.mul_canonizer.optimize(graph)
    assert T.true_div not in operators(graph)


def test_graphs_are_written_as_in_theano():
    x = T.dvector("x")
    graph = FunctionGraph([x], [T.exp(x) + x.dimshuffle("x", 0)])
    assert (
        str(graph)
        == "[Elemwise{add,no_inplace}(InplaceDimShuffle{x,0}(Elemwise{exp,no_inplace}(x)), InplaceDimShuffle{x,0}(x))]"
    )


def test_functions_that_linkers_make():
    x, y = T.dscalars("x", "y")
    graph = FunctionGraph([x, y], [x + y])
    for linker in (gof.PerformLinker(), gof.OpWiseCLinker(), gof.CLinker(), gof.DualLinker()):
        f = linker.accept(graph).make_function()
        assert f(1.0, 2.0) == 3.0
        with pytest.raises(TypeError, match="expects 2 values, not 1"):
            f(1.0)
    (result,) = gof.PerformLinker().accept(graph).make_function(unpack_single=False)(1.0, 2.0)
    assert result == 3.0


def test_a_linker_that_calls_functions_at_each_node():
    x = T.dvector("x")
    seen = []

    def run(i, node, thunk):
        thunk()

    def record(i, node, thunk):
        seen.append((i, node.op))

    linker = gof.WrapLinkerMany([gof.PerformLinker(allow_gc=False)], [run, record])
    f = theano.function([x], T.exp(T.sin(x)), mode=theano.Mode(linker, optimizer=None))
    f([0.0])
    assert seen == [(0, T.sin), (1, T.exp)]
