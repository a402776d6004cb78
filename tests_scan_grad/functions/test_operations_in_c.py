"""Operations with C code of the user's run it in the default mode, inside loops and outside.

The C code of each adds 100 to its argument; its `perform`, where it has one, adds nothing.
"""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from theano.gof.params_type import ParamsType

IN_SECTIONS = """
#section support_code_apply
int APPLY_SPECIFIC(more)(PyArrayObject* x, PyArrayObject** y) {
  npy_intp n = PyArray_DIM(x, 0);
  Py_XDECREF(*y);
  *y = (PyArrayObject*)PyArray_EMPTY(1, &n, TYPENUM_OUTPUT_0, 0);
  if (!*y) return 1;
  for (npy_intp i = 0; i < n; i++)
    *(DTYPE_OUTPUT_0*)PyArray_GETPTR1(*y, i) = *(DTYPE_INPUT_0*)PyArray_GETPTR1(x, i) + 100;
  return 0;
}
"""
# The marks of Theano 0.7 and before
IN_OLD_SECTIONS = "THEANO_APPLY_CODE_SECTION\n" + IN_SECTIONS.split("\n", 2)[2]
AS_CODE = """#section code
  npy_intp n = PyArray_DIM(INPUT_0, 0);
  Py_XDECREF(OUTPUT_0);
  OUTPUT_0 = (PyArrayObject*)PyArray_EMPTY(1, &n, TYPENUM_OUTPUT_0, 0);
  if (!OUTPUT_0) { FAIL; }
  for (npy_intp i = 0; i < n; i++)
    *(double*)PyArray_GETPTR1(OUTPUT_0, i) =
        *(double*)PyArray_GETPTR1(INPUT_0, i) + PARAMS->first + PARAMS->second;
"""
OF_A_CALL = """
npy_intp n = PyArray_DIM({x}, 0);
Py_XDECREF({y});
{y} = (PyArrayObject*)PyArray_EMPTY(1, &n, NPY_DOUBLE, 0);
if (!{y}) {{ {fail} }}
{pragma}
for (npy_intp i = 0; i < n; i++)
  *(double*)PyArray_GETPTR1({y}, i) = *(double*)PyArray_GETPTR1({x}, i) + {more};
"""


class _OfVectors:
    """An operation of a vector of float64 whose `perform` is not what its C computes."""

    itypes, otypes = [T.dvector], [T.dvector]

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0].copy()


class InFile(theano.gof.COp):
    """Without `perform`; the name of the file is relative to the folder of the class or absolute."""

    __props__ = ()
    itypes, otypes = [T.dvector], [T.dvector]

    def __init__(self, path):
        super().__init__(str(path), "APPLY_SPECIFIC(more)")


class InFileWithPerform(_OfVectors, theano.gof.COp):
    __props__ = ()

    def __init__(self, path):
        super().__init__([str(path)], "APPLY_SPECIFIC(more)")


class WithParameters(theano.gof.COp):
    __props__ = ("first", "second")
    itypes, otypes = [T.dvector], [T.dvector]
    params_type = ParamsType(first=theano.scalar.float64, second=theano.scalar.float64)

    def __init__(self, path):
        self.first, self.second = 60.0, 40.0
        theano.gof.COp.__init__(self, str(path))

    def perform(self, node, inputs, outputs, params):
        outputs[0][0] = inputs[0] + params.first - params.first


class InCCode(_OfVectors, theano.Op):
    __props__ = ()
    more = "100"

    def c_code(self, node, name, inputs, outputs, sub):
        return OF_A_CALL.format(
            x=inputs[0], y=outputs[0], fail=sub["fail"], more=self.more, pragma=""
        )

    def c_code_cache_version(self):
        return (1,)


class OnlyC(theano.Op):
    __props__ = ()
    itypes, otypes = [T.dvector], [T.dvector]
    more = "100"
    c_code, c_code_cache_version = InCCode.c_code, InCCode.c_code_cache_version


class WithParams(InCCode):
    __props__ = ("amount",)
    params_type = ParamsType(amount=theano.scalar.float64)

    def __init__(self, amount):
        self.amount = amount

    def perform(self, node, inputs, outputs, params):
        outputs[0][0] = inputs[0].copy()

    def c_code(self, node, name, inputs, outputs, sub):
        self.more = f"{sub['params']}->amount"
        return super().c_code(node, name, inputs, outputs, sub)


class Headers:
    """Methods in Theano's signatures, in a class that is no operation."""

    def c_headers(self):
        return ["<math.h>"]

    def c_support_code(self):
        return "static double hundred() { return floor(100.5); }"


class WithMixin(Headers, InCCode):
    more = "hundred()"


class OnThreads(_OfVectors, theano.gof.OpenMPOp):
    __props__ = ()

    def c_headers(self):
        return [*super().c_headers(), "<math.h>"]

    def c_code(self, node, name, inputs, outputs, sub):
        assert not self.openmp or "-fopenmp" in self.c_compile_args()
        pragma = "#pragma omp parallel for" if self.openmp else ""
        return OF_A_CALL.format(
            x=inputs[0], y=outputs[0], fail=sub["fail"], more="100", pragma=pragma
        )

    def c_code_cache_version(self):
        return (1,)

    def infer_shape(self, node, shapes):
        return shapes

    def grad(self, inputs, output_gradients):
        return [3 * output_gradients[0]]


class OfNumbers(theano.scalar.UnaryScalarOp):
    def impl(self, x):
        return x

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {inputs[0]} + 100;"


def _at_once(tmp_path, text, operation):
    path = tmp_path / "more.c"
    path.write_text(text)
    return operation(path)


OPERATIONS = {
    "file": lambda folder: _at_once(folder, IN_SECTIONS, InFile),
    "file, with perform": lambda folder: _at_once(folder, IN_SECTIONS, InFileWithPerform),
    "file with old marks": lambda folder: _at_once(folder, IN_OLD_SECTIONS, InFileWithPerform),
    "file with parameters": lambda folder: _at_once(folder, AS_CODE, WithParameters),
    "c_code": lambda _: InCCode(),
    "c_code only": lambda _: OnlyC(),
    "params_type": lambda _: WithParams(100.0),
    "methods of a mixin": lambda _: WithMixin(),
    "OpenMPOp": lambda _: OnThreads(),
    "OpenMPOp that asks for threads": lambda _: OnThreads(openmp=True),
    "scalar operation": lambda _: T.Elemwise(OfNumbers(theano.scalar.upgrade_to_float, "more")),
}


@pytest.mark.parametrize("kind", OPERATIONS)
def test_c_code_runs_inside_loops_and_outside(kind, tmp_path):
    operation = OPERATIONS[kind](tmp_path)
    x = T.dvector("x")
    states, _ = theano.scan(lambda h: operation(h) * 2, outputs_info=x, n_steps=2)
    rows, _ = theano.scan(lambda row: operation(T.exp(row)), sequences=T.stack([x, x]))
    f = theano.function([x], [operation(x * 2) - 1, states[-1], rows[1]])
    for given in (np.array([1.0, 2.0]), np.array([3.0])):
        outside, state, row = f(given)
        np.testing.assert_allclose(outside, 2 * given + 99)
        np.testing.assert_allclose(state, 4 * given + 600)
        np.testing.assert_allclose(row, np.exp(given) + 100)


def test_c_code_of_a_scalar_operation_runs_where_it_is_fused_or_summed_by():
    x = T.dvector("x")
    more = T.Elemwise(OfNumbers(theano.scalar.upgrade_to_float, name="more"))
    fused = theano.compile.get_default_mode().including("fusion")
    np.testing.assert_array_equal(theano.function([x], more(2 * x) + 1, mode=fused)([1.0]), [103])


def test_c_code_runs_within_a_graph_that_is_an_operation():
    x = T.dvector("x")
    inside = theano.OpFromGraph([x], [InCCode()(x) * 2])
    np.testing.assert_array_equal(theano.function([x], inside(x) + 1)([1.0]), [203])


CONSTANT = ["file", "file with parameters", "c_code only", "OpenMPOp", "scalar operation"]


@pytest.mark.parametrize("kind", CONSTANT)
def test_c_code_computes_what_becomes_a_constant(kind, tmp_path):
    result = OPERATIONS[kind](tmp_path)(T.constant([1.0, 2.0]))
    np.testing.assert_array_equal(theano.function([], result * 2)(), [202, 204])


class OnlyInC(theano.scalar.UnaryScalarOp):
    """Without `impl`."""

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {inputs[0]} + 100;"


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_scalar_operation_without_impl_computes_constants(mode, capfd):
    more = T.Elemwise(OnlyInC(theano.scalar.upgrade_to_float, name="more"))
    x = T.dvector("x")
    rows, _ = theano.scan(lambda row: row + more(T.constant(2.0)), sequences=x)
    f = theano.function([x], [x + more(T.constant([1.0, 2.0])), rows], mode=mode)
    np.testing.assert_array_equal(f([0.0, 1.0]), [[101, 103], [102, 103]])
    assert more not in [node.op for node in f.maker.fgraph.toposort()]
    assert "failure" not in capfd.readouterr().err


def test_eval_runs_c_code():
    x = theano.shared(np.ones(1))
    np.testing.assert_array_equal((InCCode()(x) * 2).eval(), [202])
    np.testing.assert_array_equal((InCCode()(T.constant([1.0])) * 2).eval(), [202])


def test_an_operation_for_threads_has_theanos_gradient_and_shape():
    x = T.dvector("x")
    y = OnThreads()(x)
    f = theano.function([x], [theano.grad(y.sum(), x), y.shape])
    slope, shape = f([1.0, 2.0])
    np.testing.assert_array_equal(slope, [3, 3])
    np.testing.assert_array_equal(shape, [2])
    assert isinstance(OnThreads(), theano.Op) and OnThreads(openmp=True).openmp


def test_c_code_that_fails_raises_its_error():
    class Failing(InCCode):
        def c_code(self, node, name, inputs, outputs, sub):
            return f'PyErr_SetString(PyExc_ValueError, "no vector"); {sub["fail"]}'

    x = T.dvector("x")
    states, _ = theano.scan(lambda h: Failing()(h), outputs_info=x, n_steps=2)
    for output in (Failing()(x), states[-1]):
        with pytest.raises(ValueError, match="no vector"):
            theano.function([x], output)([1.0])


def test_c_code_that_does_not_compile_is_an_error_and_no_perform():
    class Wrong(InCCode):
        def c_code(self, node, name, inputs, outputs, sub):
            return "this is no C;"

    x = T.dvector("x")
    with pytest.raises(Exception, match="(?i)compil"):
        theano.function([x], Wrong()(x))


def test_c_code_that_is_not_implemented_for_its_types_leaves_them_to_perform():
    class ForOthers(InCCode):
        def c_code(self, node, name, inputs, outputs, sub):
            raise NotImplementedError

    x = T.dvector("x")
    np.testing.assert_array_equal(theano.function([x], ForOthers()(x))([1.0]), [1])


def test_an_operation_without_perform_says_so_where_no_c_is_compiled():
    x = T.dvector("x")
    with pytest.raises(theano.gof.utils.MethodNotDefined, match="OnlyC.*FAST_COMPILE"):
        theano.function([x], OnlyC()(x), mode="FAST_COMPILE")([1.0])


def test_on_a_device_c_code_runs_on_the_host():
    pytest.importorskip("jax")
    x = T.dvector("x")
    np.testing.assert_array_equal(theano.function([x], InCCode()(x) * 2, mode="XLA")([1.0]), [202])


WITHOUT_COMPILER = """
import warnings
import theano, theano.tensor as T
from tests_scan_grad.functions.test_operations_in_c import InCCode
x = T.dvector("x")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(2):
        f = theano.function([x], InCCode()(x))
print(f([1.0]))
print([str(w.message) for w in seen])
"""


def test_without_a_compiler_perform_runs_with_one_warning():
    value, messages = printed_by(WITHOUT_COMPILER, THEANO_FLAGS="cxx=")
    assert value == "[1.]"
    assert messages.count("The perform of InCCode") == 1
    assert "no C++ compiler was found" in messages


def test_debug_mode_compares_c_code_with_perform():
    x = T.dvector("x")
    with pytest.raises(theano.compile.debugmode.BadThunkOutput):
        theano.function([x], InCCode()(x), mode="DebugMode")([1.0])
