"""Operators and arguments of Theano 1.0 that PyTensor lacks: values, gradients, errors."""

import functools
import warnings

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gradient import verify_grad

compiled = functools.partial(theano.function, mode="FAST_COMPILE")
RNG = np.random.default_rng(5)
A = RNG.normal(size=(3, 4))


def value_of(output):
    return compiled([], output)()


def check_gradient(function, *points):
    verify_grad(function, list(points), rng=np.random.RandomState(3), mode="FAST_COMPILE")


def test_mean_of_one_axis_or_of_all():
    np.testing.assert_allclose(value_of(T.Mean(1)(A)), A.mean(axis=1))
    np.testing.assert_allclose(value_of(T.Mean()(A.astype("float32"))), A.mean(), rtol=1e-6)
    check_gradient(T.Mean(-1), A)
    check_gradient(T.Mean(), A)
    with pytest.raises(ValueError, match="one axis"):
        T.Mean((0, 1))


def test_triangle():
    n, m, k = T.iscalars("n", "m", "k")
    f = compiled([n, m, k], T.Tri("int8")(n, m, k))
    np.testing.assert_array_equal(f(3, 4, -1), np.tri(3, 4, -1))
    assert f(2, 2, 0).dtype == "int8"
    with pytest.raises(TypeError, match="integer scalars"):
        T.Tri()(2.0, 2, 0)


def test_differences():
    np.testing.assert_allclose(value_of(T.extra_ops.DiffOp(2, 1)(A)), np.diff(A, 2, 1))
    np.testing.assert_array_equal(value_of(T.extra_ops.DiffOp(0)(A)), A)
    check_gradient(T.extra_ops.DiffOp(2, 0), A)


def test_default_takes_the_place_of_none():
    x, y = T.dscalars("x", "y")
    f = theano.function([x, y], T.default(x, y))
    assert f(1, 2) == 1
    assert f(None, 2) == 2
    assert f(1, None) == 1
    with pytest.raises(TypeError, match="None twice"):
        f(None, None)
    with pytest.raises(TypeError, match="one type"):
        T.default(x, T.dvector())
    with pytest.raises(TypeError, match="Bad input"):
        theano.function([x, y], T.default(x, y) + y)(1, None)


def test_in_place_operators_overwrite_what_is_passed_and_keep_its_dtype():
    x, y = T.ivector("x"), T.dvector("y")
    in_place = T.inplace.add_inplace(x, y)
    assert in_place.dtype == "int32"
    f = theano.function([x, y], in_place, accept_inplace=True)
    value = np.array([1, 2, 3], dtype="int32")
    f(value, [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(value, [2, 3, 4])
    z = T.dvector("z")
    g = theano.function([z], T.inplace.exp_inplace(z[1:]), accept_inplace=True)
    value = np.zeros(3)
    g(value)
    np.testing.assert_array_equal(value, [0, 1, 1])


PLAIN = theano.Mode(optimizer=None, linker="c|py")


@pytest.mark.parametrize("mode", [None, PLAIN, theano.Mode(linker="py", optimizer=None)])
def test_operators_in_place_change_shared_variables(mode):
    def overwriting(make, value, *inputs):
        shared = theano.shared(value, borrow=True)
        output = make(shared)
        return shared, theano.function(inputs, output, accept_inplace=True, mode=mode)

    s, f = overwriting(T.inplace.exp_inplace, np.zeros(3))
    for expected in (1.0, np.e, np.exp(np.e)):
        result = f()
        np.testing.assert_allclose(result, [expected] * 3)
        np.testing.assert_allclose(s.get_value(), [expected] * 3)
    s, f = overwriting(lambda s: T.inplace.add_inplace(s[1:], 2), np.zeros(3))
    f()
    f()
    np.testing.assert_array_equal(s.get_value(), [0, 4, 4])
    s, f = overwriting(lambda s: T.inc_subtensor(s[0], 1, inplace=True), np.zeros((2, 2)))
    f()
    np.testing.assert_array_equal(s.get_value(), [[1, 1], [0, 0]])
    x, half, two = np.arange(4.0).reshape(2, 2), np.float64(0.5), np.float64(2)
    s, f = overwriting(lambda s: T.blas.gemm_inplace(s, two, x, x, half), np.ones((2, 2)))
    f()
    np.testing.assert_allclose(s.get_value(), 0.5 + 2 * x.dot(x))


def test_a_call_that_fails_leaves_what_operators_in_place_would_change():
    s, x = theano.shared(np.zeros(3)), T.dvector("x")
    failing = theano.tensor.opt.assert_op(T.inplace.exp_inplace(s), T.all(x > 0))
    f = theano.function([x], failing, accept_inplace=True)
    with pytest.raises(AssertionError):
        f([-1.0])
    np.testing.assert_array_equal(s.get_value(), 0)
    f([1.0])
    np.testing.assert_array_equal(s.get_value(), 1)


def test_rebroadcast():
    x = T.dmatrix("x")
    declared = theano.compile.Rebroadcast((1, True))(x)
    assert theano.compile.ops.Rebroadcast is T.Rebroadcast
    assert declared.broadcastable == (False, True)
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = theano.function([x], declared + T.ones((1, 3)), mode=mode)
        assert f(np.ones((2, 1))).shape == (2, 3)
        with pytest.raises(ValueError, match="length 1|is of size 1"):
            f(np.ones((2, 2)))
    forgotten = T.Rebroadcast((1, False))(T.dcol())
    assert forgotten.broadcastable == (False, False)
    check_gradient(lambda y: (T.Rebroadcast((0, False))(T.addbroadcast(y, 0)) ** 2).sum(), A[:1])
    with pytest.raises(ValueError, match="does not have"):
        T.Rebroadcast((2, True))(x)


def test_parts_of_length_one_take_arrays_of_length_one_only():
    x, y = T.dcol("x"), T.dvector("y")
    f = theano.function([x, y], T.set_subtensor(x[0], y))
    np.testing.assert_array_equal(f(np.ones((3, 1)), [5]), [[5], [1], [1]])
    with pytest.raises(ValueError):
        f(np.ones((3, 1)), [5, 6])


def test_declarations_of_length_one_are_taken_back():
    x = T.dmatrix("x")
    assert T.unbroadcast(T.addbroadcast(x, 0), 0) is x
    assert T.patternbroadcast(x, ()) is x


@pytest.mark.parametrize("count", [2, -3, 4])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_largest_in_order(count, axis):
    x = np.concatenate([A, A + 5, A - 5])
    values, positions = compiled([], T.topk_and_argtopk(x, count, axis, idx_dtype="int32"))()
    flat, along = (x.flatten(), 0) if axis is None else (x, axis)
    ordered = np.sort(flat, axis=along)
    ends = range(ordered.shape[along])[-count:] if count > 0 else range(-count)
    wanted = np.flip(np.take(ordered, ends, axis=along), along)
    np.testing.assert_array_equal(values, wanted)
    np.testing.assert_array_equal(np.take_along_axis(flat, positions, along), wanted)
    assert positions.dtype == "int32"


def test_topk_computes_only_what_is_needed():
    x = T.dvector("x")
    (node,) = theano.function([x], T.topk(x, 2, sorted=False)).maker.fgraph.apply_nodes
    assert len(node.outputs) == 1 and not node.op.return_indices
    check_gradient(lambda y: T.topk(y, 2, axis=0), A)
    f = compiled([x], T.topk(x, 3))
    with pytest.raises(ValueError, match="at most 2"):
        f([1.0, 2.0])
    with pytest.raises(ValueError, match="other than 0"):
        value_of(T.topk(A, 0))
    with pytest.raises(IndexError, match="axis"):
        T.topk(x, 1, axis=1)


def test_axes_of_extremes():
    np.testing.assert_array_equal(value_of(T.max(A, T.constant([0, 0]))), A.max(axis=0))
    np.testing.assert_array_equal(value_of(T.max_and_argmax(A, (1,))[1]), A.argmax(axis=1))
    assert value_of(T.min(A, np.array(0))).shape == (4,)
    with pytest.raises(ValueError, match="got 2"):
        T.argmin(A, 2)
    with pytest.raises(TypeError, match="constant axes"):
        T.max(A, T.iscalar())


def test_specified_shape():
    x, shape = T.dmatrix("x"), T.ivector("shape")
    f = theano.function([x, shape], theano.compile.SpecifyShape()(x, shape))
    assert f(A, [3, 4]).shape == (3, 4)
    for wrong in ([3, 3], [3], [3, 4, 1]):
        with pytest.raises(AssertionError):
            f(A, wrong)
    with pytest.raises(AssertionError, match="expected 2 lengths"):
        theano.compile.specify_shape(x, [3])
    assert any(
        isinstance(node.op, theano.compile.SpecifyShape) for node in f.maker.fgraph.apply_nodes
    )


def test_dimshuffle_takes_the_broadcastable_pattern():
    op = T.DimShuffle((False, True), ("x", 0))
    assert op(T.dcol()).broadcastable == (True, False)
    assert op == T.dcol().dimshuffle("x", 0).owner.op
    with pytest.raises(ValueError, match="dimension 0"):
        T.DimShuffle((False, True), (1,))


def test_arrays_from_files(tmp_path):
    path = theano.gof.generic("path")
    np.save(tmp_path / "a.npy", A)
    f = theano.function([path], T.load(path, "float64", (False, False)).sum(axis=0))
    np.testing.assert_allclose(f(str(tmp_path / "a.npy")), A.sum(axis=0))
    with pytest.raises(TypeError, match="expected an array of float32"):
        value_of(T.load(str(tmp_path / "a.npy"), "float32", (False, False)))
    with pytest.raises(ValueError, match="mmap_mode"):
        T.load(path, "float64", (False,), "r")


def test_constants():
    assert T.get_scalar_constant_value(T.constant([[3.0]])) == 3
    with pytest.raises(T.EmptyConstantError):
        T.get_scalar_constant_value(np.array([]))
    with pytest.raises(T.NotScalarConstantError):
        T.get_scalar_constant_value(np.array([1, 2]))


def test_special_functions_as_scalar_operators():
    scipy_special = pytest.importorskip("scipy.special")
    x = np.abs(A)
    chi2sf = T.Elemwise(theano.scalar.chi2sf)
    np.testing.assert_allclose(value_of(chi2sf(x, 3.0)), scipy_special.chdtrc(3.0, x))
    iv = T.Elemwise(theano.scalar.iv)
    np.testing.assert_allclose(value_of(iv(1.5, x)), scipy_special.iv(1.5, x))
    check_gradient(lambda y: iv(1.5, y), x)


def test_a_scalar_that_a_function_returns_is_a_number_of_numpy():
    x = T.bscalar("x")
    result = theano.function([x], T.scalar_from_tensor(x + np.int8(1)))(3)
    assert type(result) is np.int8 and result == 4


def test_positions_out_of_range_are_not_left_out():
    x, y = T.dvectors("x", "y")
    f = theano.function([x, y], x[T.arange(y.shape[0])])
    np.testing.assert_array_equal(f([1, 2, 3], [0, 0]), [1, 2])
    with pytest.raises(IndexError):
        f([1, 2, 3], [0, 0, 0, 0])
    with pytest.raises(IndexError):
        theano.function([x], x[[0, 1, 2]])([1, 2])


def test_one_row_may_be_added_to_several():
    x, y, rows = T.dmatrix("x"), T.dmatrix("y"), T.lvector("rows")
    f = theano.function([x, y, rows], T.inc_subtensor(x[rows], y))
    np.testing.assert_array_equal(f(np.zeros((3, 2)), [[1, 2]], [0, 2]), [[1, 2], [0, 0], [1, 2]])
    np.testing.assert_array_equal(f(np.zeros((1, 2)), [[1, 2]], [0]), [[1, 2]])
    assert isinstance(x[rows].owner.op, T.AdvancedSubtensor1)
    assert isinstance(f.maker.fgraph.outputs[0].owner.op, T.AdvancedIncSubtensor1)


def test_lengths_that_differ_behind_other_operations_are_refused():
    x, y = T.dvectors("x", "y")
    a, b = T.dscalars("a", "b")
    for output in (a * x + b * y, 2 * x + 3 * y, T.dot(T.exp(a * x), b * y)):
        f = theano.function([x, y, a, b], output, on_unused_input="ignore")
        with pytest.raises(ValueError):
            f(np.ones(5), np.ones(6), 1.0, 1.0)
        with pytest.raises(ValueError):
            f(np.ones(6), np.ones(5), 1.0, 1.0)


def test_tile_with_counts_that_are_not_known():
    x, reps = T.dmatrix("x"), T.lvector("reps")
    f = theano.function([x, reps], T.tile(x, reps, ndim=3))
    np.testing.assert_array_equal(f(A, [2, 1]), np.tile(A, (1, 2, 1)))
    with pytest.raises(AssertionError, match="at most ndim=3"):
        f(A, [1, 1, 1, 1])
    for wrong in (reps, [1.5, 2], T.dvector(), T.lmatrix()):
        with pytest.raises(ValueError):
            T.tile(x, wrong)


def test_diagonals_by_the_operator():
    x, y = T.dvector("x"), T.dmatrix("y")
    # Theano 1.0.5's results
    cases = {
        (): [[1, 0], [0, 2]],
        (1,): [[0, 1, 0], [0, 0, 2], [0, 0, 0]],
        (-1, 0, 1): [[0, 0, 0], [1, 0, 0], [0, 2, 0]],
        (1, 1, 0): [[0, 1, 0], [0, 0, 2], [0, 0, 0]],
    }
    for arguments, expected in cases.items():
        for operator in (T.AllocDiag, T.nlinalg.AllocDiag):
            made = operator(*arguments)
            assert isinstance(made, operator) and isinstance(T.diag(x).owner.op, operator)
            np.testing.assert_array_equal(made(x).eval({x: [1.0, 2.0]}), expected)
    values = np.arange(6.0).reshape(2, 3)
    inner = T.AllocDiag(axis1=0, axis2=2)(y).eval({y: values})
    np.testing.assert_array_equal(np.diagonal(inner, axis1=0, axis2=2), values)
    with pytest.raises(ValueError, match="expected two dimensions"):
        T.AllocDiag(0, 1, 1)


def test_sorts_along_an_axis_that_is_computed():
    x, axis = T.dmatrix("x"), T.lscalar("axis")
    f = theano.function([x, axis], [T.sort(x, axis), T.argsort(x, axis)])
    values = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 0.0]])
    for k in (0, 1, -1):
        for found, expected in zip(f(values, k), (np.sort, np.argsort), strict=True):
            np.testing.assert_array_equal(found, expected(values, k))


def test_rows_extremes_and_softmax_have_native_code():
    x, y, rows = T.dmatrix("x"), T.dmatrix("y"), T.lvector("rows")
    outputs = [x[rows], T.set_subtensor(x[rows], y), x.max(axis=1), x.min(), T.nnet.softmax(x)]
    f = theano.function([x, y, rows], outputs)
    assert "by PyTensor" not in str(theano.link.native.report(f))
    values = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(f(values, values[:2], [2, 0])[1], [[2, 3], [2, 3], [0, 1]])


def test_theanos_names_warn_of_nothing_that_pytensor_is_going_to_drop():
    x, rows = T.dmatrix("x"), T.lvector("rows")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T.complex_from_polar(x, x)
        T.nlinalg.matrix_dot(x, x, x)
        T.advanced_subtensor1(x, rows)
        T.advanced_inc_subtensor1(x, x, rows)
        theano.OpFromGraph([x], [x * 2], mode="FAST_RUN")(x)


def test_the_class_of_an_operator_is_that_of_its_old_name():
    op = T.diag(T.dvector()).owner.op
    assert op.__class__ == T.AllocDiag and T.AllocDiag == op.__class__
    assert op.__class__ in {T.AllocDiag} and T.AllocDiag != T.ExtractDiag
