"""Modes: their names, the flags that shape them, the engine they choose, and their rewrites."""

import pickle

import numpy as np
import pytest
from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.scalar.basic import Add, Composite, Mul
from pytensor.tensor.blas import Gemm

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from theano.compile import DebugMode, get_default_mode, get_mode
from theano.compile import mode as mode_module
from theano.compile.mode_components import linkers
from theano.link.native import NativeLinker

ONES = np.ones((2, 3))


@pytest.fixture
def x():
    return T.matrix("x", dtype="float64")


def test_fast_compile_looks_for_no_blas():
    lines = """
import subprocess
import theano, theano.tensor as T
started = []
init = subprocess.Popen.__init__
subprocess.Popen.__init__ = lambda self, command, *args, **kwargs: (
    started.append(str(command)), init(self, command, *args, **kwargs))[1]
x = T.matrix("x")
theano.Mode(theano.compile.get_mode("FAST_COMPILE").linker, "fast_compile").optimizer
print(started)
"""
    assert printed_by(lines) == ["[]"]


@pytest.mark.parametrize("name", ["Mode", "FAST_RUN", "FAST_COMPILE", "DebugMode", "NanGuardMode"])
def test_named_modes_compute(name, x):
    w = theano.shared(np.ones((3, 2)))
    f = theano.function([x], T.tanh(T.dot(x, w)).sum(), mode=name)
    np.testing.assert_allclose(f(ONES), 4 * np.tanh(3))
    with theano.change_flags(mode=name):
        assert type(get_default_mode()) is type(get_mode(name))


def test_unknown_mode_names_the_nearest(x):
    with pytest.raises(ValueError, match="'FAST_RUM'.*FAST_COMPILE.*did you mean 'FAST_RUN'"):
        theano.function([x], x, mode="FAST_RUM")
    with pytest.raises(ValueError, match="did you mean 'DebugMode'"):
        get_mode("debugmod")
    with pytest.raises(TypeError, match="not 3"):
        theano.function([x], x, mode=3)
    with pytest.raises(ValueError, match="linker.*did you mean 'cvm'"):
        theano.Mode(linker="cvn")
    with pytest.raises(ValueError, match="optimizer.*did you mean 'fast_run'"):
        theano.Mode(optimizer="fast_rum")
    with pytest.raises(ValueError, match="FAST_RUM"), theano.change_flags(mode="FAST_RUM"):
        pass


@pytest.mark.parametrize("error", [KeyError, ValueError])
@pytest.mark.parametrize("what", ["linker", "optimizer"])
def test_unknown_names_are_errors_of_theano_too(what, error):
    with pytest.raises(error) as caught:
        theano.Mode(**{what: "cc"})
    assert str(caught.value).startswith(f"No predefined {what} exists for 'cc'")


def test_default_modes_ask_for_our_tag_and_pytensors_do_not():
    def tags(mode):
        return set(mode.provided_optimizer.include)

    assert {"fast_run", "theano_fast_run"} <= tags(get_mode("FAST_RUN"))
    assert {"fast_run", "theano_fast_run"} <= tags(get_default_mode())
    assert {"fast_compile", "theano_fast_compile"} <= tags(get_mode("FAST_COMPILE"))
    assert {"fast_run", "theano_fast_run"} <= tags(DebugMode())
    from pytensor.compile.mode import predefined_modes

    for mode in predefined_modes.values():
        assert not any("theano" in tag for tag in tags(mode))


@pytest.mark.parametrize(
    ("flag", "attribute"),
    [
        ("optimizer_including", "include"),
        ("optimizer_excluding", "exclude"),
        ("optimizer_requiring", "require"),
    ],
)
def test_flags_shape_named_modes_only(flag, attribute):
    def tags(mode):
        return set(getattr(mode.provided_optimizer, attribute))

    own = theano.Mode()
    with theano.change_flags({flag: "first_tag:second_tag"}):
        for name in (None, "FAST_RUN", "FAST_COMPILE", "NanGuardMode"):
            assert {"first_tag", "second_tag"} <= tags(get_mode(name))
        assert get_mode(own) is own
    assert not {"first_tag", "second_tag"} & tags(get_mode(None))


def test_excluding_changes_the_program(x):
    def fused(**kwargs):
        f = theano.function([x], T.exp(x) + T.tanh(x) * 2, **kwargs)
        return len(f.maker.fgraph.toposort()) == 1

    with theano.change_flags(linker="pytensor_cvm"):
        assert fused()
        with theano.change_flags(optimizer_excluding="fusion"):
            assert not fused()
            assert fused(mode=theano.Mode())
        assert not fused(mode=theano.Mode().excluding("fusion"))
        assert not fused(mode=theano.Mode(optimizer="None"))


def _is_in_place(op):
    return isinstance(op, T.Elemwise) and bool(op.inplace_pattern)


def test_results_are_computed_in_the_memory_of_an_operand_that_is_of_no_other_use(x):
    product = x.dot(x)
    outputs = [T.tanh(x + product) * 2, T.exp(x), T.exp(x.T), product - 1, product * 2]

    def in_place(mode):
        f = theano.function([x], outputs, mode=mode)
        value = np.eye(2)
        np.testing.assert_allclose(f(value)[0], 2 * np.tanh(2 * np.eye(2)))
        np.testing.assert_array_equal(value, np.eye(2))
        return [_is_in_place(output.owner.op) for output in f.maker.fgraph.outputs]

    assert in_place("FAST_RUN") == [True, False, False, False, False]
    (result,) = theano.function([x], -T.exp(x), mode="FAST_RUN").maker.fgraph.outputs
    assert result.owner.op == T.inplace.neg_inplace
    assert in_place(get_mode("FAST_RUN").excluding("inplace")) == [False] * 5


@pytest.mark.parametrize(
    "tag, is_its_work",
    [
        ("fusion", lambda op: isinstance(getattr(op, "scalar_op", None), Composite)),
        ("inplace", lambda op: _is_in_place(op) and not isinstance(op.scalar_op, Add | Mul)),
        ("BlasOpt", lambda op: isinstance(op, Gemm)),
    ],
)
@pytest.mark.parametrize("linker", ["native", "pytensor_cvm"])
def test_rewrites_that_the_engine_does_itself_are_run_if_asked_for(tag, is_its_work, linker):
    x, y, z = T.matrices("x", "y", "z")
    outputs = [x.dot(y) + z, T.exp(T.tanh(y.dot(z))) * 2]
    values = np.random.default_rng(0).standard_normal((3, 3, 3))

    def done(mode):
        f = theano.function([x, y, z], outputs, mode=mode)
        np.testing.assert_allclose(f(*values)[0], values[0] @ values[1] + values[2])
        return any(is_its_work(node.op) for node in f.maker.fgraph.apply_nodes)

    assert done(theano.Mode(linker).including(tag))
    if linker == "native":
        assert not done(theano.Mode(linker))


def test_rewrites_are_looked_up_in_the_database_that_is_given(x):
    sine = theano.gof.opt.OpSub(T.tanh, T.sin)
    database = theano.gof.SequenceDB()
    database.register("sine", theano.gof.opt.TopoOptimizer(sine), "fast_run", position=1)
    mode = theano.Mode("py", "fast_run", database)
    for asked in (mode, mode.excluding("inplace")):
        computed = theano.function([x], T.tanh(x), mode=asked)(ONES)
        np.testing.assert_array_equal(computed, np.sin(ONES))


def test_flags_linker_and_optimizer_shape_the_mode():
    with theano.change_flags(linker="py", optimizer="fast_compile"):
        mode = get_default_mode()
        assert type(mode.linker).__name__ == "PerformLinker"
        assert "fast_compile" in mode.provided_optimizer.include
        assert str(mode) == "Mode(linker=py, optimizer=OPT_FAST_COMPILE)"


@pytest.mark.parametrize("name", ["cvm", "vm", "c|py", "c", "cvm_nogc", "vm_nogc", "c|py_nogc"])
def test_theanos_fast_linkers_are_this_packages_engine(name, x):
    keeps = name.endswith("_nogc")
    f = theano.function([x], T.exp(x).sum(), mode=theano.Mode(linker=name))
    assert type(f.maker.linker) is NativeLinker and f.vm.allow_gc is not keeps
    assert f(np.zeros((2, 3))) == 6
    assert str(theano.link.native.report(f)).startswith("1 native segment")
    with theano.change_flags(linker=name):
        by_flag = theano.function([x], T.exp(x).sum())
        assert type(by_flag.maker.linker) is NativeLinker and by_flag.vm.allow_gc is not keeps
    with theano.change_flags(allow_gc=False):
        assert not theano.function([x], x + 1, mode=theano.Mode(linker=name)).vm.allow_gc


@pytest.mark.parametrize("name", ["cvm", "vm", "c|py", "c", "cvm_nogc", "vm_nogc", "c|py_nogc"])
def test_pytensors_machines_have_names_of_their_own(name, x):
    mode = theano.Mode(linker=f"pytensor_{name}")
    assert not isinstance(mode.linker, NativeLinker)
    assert theano.function([x], T.exp(x).sum(), mode=mode)(np.zeros((2, 3))) == 6
    with theano.change_flags(linker=f"pytensor_{name}"):
        assert type(get_default_mode().linker) is type(mode.linker)


def test_reading_where_blas_lies_warns_of_nothing():
    lines = """
import logging, warnings
warnings.simplefilter("error")
logging.basicConfig(level=logging.DEBUG)
import theano
print(type(theano.config.blas.ldflags).__name__)
with theano.change_flags({"blas.ldflags": "-lsome"}):
    print(theano.config.blas.ldflags)
"""
    assert printed_by(lines) == ["str", "-lsome"]


def test_flag_allow_gc_is_read_when_compiling(x):
    with theano.change_flags(allow_gc=False):
        assert not theano.function([x], x + 1).vm.allow_gc
    assert theano.function([x], x + 1).vm.allow_gc


def test_pytensor_mode_is_accepted(x):
    f = theano.function([x], x.sum(), mode=PyTensorMode("py", "fast_compile"))
    assert f(ONES) == 6


def test_mode_pickles_and_clones():
    mode = theano.Mode("pytensor_vm", "fast_compile").including("some_tag")
    other = pickle.loads(pickle.dumps(get_mode("FAST_RUN")))
    assert type(other) is theano.Mode and str(other) == str(get_mode("FAST_RUN"))
    assert "some_tag" in mode.clone().provided_optimizer.include
    assert type(mode.excluding("a").requiring("b")) is theano.Mode


def test_register():
    mode = theano.Mode("py", "merge")
    theano.compile.register_mode("mode of this test", mode)
    try:
        assert get_mode("mode of this test") is mode
        with pytest.raises(ValueError, match="already taken"):
            theano.compile.register_mode("mode of this test", mode)
        with pytest.raises(ValueError, match="already taken"):
            theano.compile.register_mode("FAST_RUN", mode)
    finally:
        del mode_module.named_modes["mode of this test"]
        del mode_module.predefined_modes["mode of this test"]
    with pytest.raises(ValueError, match="already taken"):
        theano.compile.register_linker("cvm", None)
    with pytest.raises(ValueError, match="already taken"):
        theano.compile.register_optimizer("fast_run", None)


def test_registered_linker_and_optimizer(x):
    from pytensor.link.basic import PerformLinker

    theano.compile.register_linker("linker of this test", PerformLinker())
    theano.compile.register_optimizer("optimizer of this test", theano.compile.OPT_MERGE)
    try:
        mode = theano.Mode("linker of this test", "optimizer of this test")
        assert theano.function([x], x.sum(), mode=mode)(ONES) == 6
    finally:
        del linkers.predefined_linkers["linker of this test"]
        del mode_module.predefined_optimizers["optimizer of this test"]


def test_diagonals_of_an_expression_keep_their_order():
    x = T.dtensor3("x")
    value = np.arange(27.0).reshape(3, 3, 3)
    f = theano.function([x], T.diagonal(x + 1, axis1=0, axis2=1), mode="FAST_RUN")
    np.testing.assert_array_equal(f(value), np.diagonal(value + 1, axis1=0, axis2=1))


def test_fast_run_by_name_includes_what_the_engine_has_no_need_of():
    x, y = T.dmatrix("x"), T.dvector("y")
    mode = theano.compile.get_default_mode().including("fast_run")
    f = theano.function([x, y], T.dot(x, y), mode=mode)
    assert any(isinstance(node.op, T.blas.Gemv) for node in f.maker.fgraph.apply_nodes)
    np.testing.assert_array_equal(f([[1, 2], [3, 4]], [3, 4]), [11, 25])


def test_what_is_required_leaves_the_rewrites_that_have_the_tag(x):
    def operations(**flags):
        with theano.change_flags(linker="pytensor_vm", **flags):
            f = theano.function([x], 2 * T.exp(x) + T.tanh(x) ** 1)
        np.testing.assert_allclose(f(ONES), 2 * np.exp(ONES) + np.tanh(ONES))
        scalar = [getattr(node.op, "scalar_op", None) for node in f.maker.fgraph.apply_nodes]
        return {type(op).__name__ for op in scalar if op is not None}

    assert operations() == {"Composite"}
    assert operations(optimizer_requiring="fusion") == {"Composite"}
    assert operations(optimizer_requiring="canonicalize") >= {"Exp", "Tanh", "Mul", "Add"}
    assert "Pow" in operations(optimizer_requiring="a tag of no rewrite")
    assert "Composite" not in operations(optimizer="fast_run_stable")
