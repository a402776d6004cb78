"""`theano.tensor`: constructors, functions whose signature is Theano's own, and streams."""

import functools
import warnings

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.shared_randomstreams import RandomStreams

# Graphs are small and each is run once, so compiling is what takes the time.
compiled = functools.partial(theano.function, mode="FAST_COMPILE")
RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 4))


def value_of(output):
    """Compute an output that depends on no variable."""
    return compiled([], output)()


PREFIXES = {
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
}
SHAPES = {
    "scalar": (),
    "vector": (False,),
    "matrix": (False, False),
    "row": (True, False),
    "col": (False, True),
    "tensor3": (False,) * 3,
    "tensor4": (False,) * 4,
    "tensor5": (False,) * 5,
}


@pytest.mark.parametrize("kind", SHAPES)
def test_constructors(kind):
    assert getattr(T, kind)("x").type == T.TensorType(theano.config.floatX, SHAPES[kind])
    assert getattr(T, kind)("x", "int8").type == T.TensorType("int8", SHAPES[kind])
    assert getattr(T, kind)("x").name == "x"
    for prefix, dtype in PREFIXES.items():
        assert getattr(T, prefix + kind)("y").type == T.TensorType(dtype, SHAPES[kind])


@pytest.mark.parametrize("kind", ["scalars", "vectors", "matrices", "tensor3s", "tensor4s"])
def test_plural_constructors(kind):
    x, y = getattr(T, kind)("x", "y")
    assert (x.name, y.name) == ("x", "y")
    assert len(getattr(T, "f" + kind)(3)) == 3
    assert all(v.dtype == "float32" for v in getattr(T, "f" + kind)(2))


def test_constructors_follow_floatx():
    with theano.config.change_flags(floatX="float32"):
        assert T.matrix().dtype == T.shared_randomstreams.RandomStreams(1).uniform((2,)).dtype
        assert T.matrix().dtype == "float32"


def test_tensor_type_is_pytensors():
    made = T.TensorType(dtype="float32", broadcastable=(False, True), name="column")
    assert isinstance(made, T.TensorType) and made.name == "column"
    assert made == T.fcol and hash(made) == hash(T.fcol)
    assert made.broadcastable == (False, True)
    assert T.TensorType("int64", (0, 1)) == T.lcol
    assert isinstance(T.dot(T.matrix(), T.matrix()).type, T.TensorType)
    assert not isinstance(theano.scalar.float32, T.TensorType)
    assert T.tensor("float32", (True, False), name="r").type == T.frow
    with pytest.raises(TypeError, match="Invalid dtype"):
        T.TensorType("float33", ())


def test_no_subclass_of_pytensors_type_is_left_behind():
    from pytensor.tensor.type import TensorType

    assert not [c for c in TensorType.__subclasses__() if c.__module__.startswith("theano.tensor")]


def test_variables_are_instances_of_theanos_classes():
    assert isinstance(T.matrix(), T.TensorVariable)
    # PyMC3 takes a graph's inputs that are one for its random variables
    for other in (T.constant(2.0), theano.shared(A), theano.shared(2.0)):
        assert not isinstance(other, T.TensorVariable)
    assert isinstance(T.constant(2.0), T.TensorConstant)
    assert isinstance(theano.shared(A), T.TensorSharedVariable)
    assert isinstance(theano.shared(A), T.sharedvar.SharedVariable)
    assert isinstance(T.matrix()[0].owner.op, T.Subtensor)
    assert isinstance(T.exp(T.matrix()).owner.op, T.Elemwise)
    assert isinstance(T.matrix().T.owner.op, T.DimShuffle)


@pytest.mark.parametrize(
    "old, expected",
    [
        ("abs_", np.abs),
        ("inv", lambda x: 1 / x),
        ("sqr", np.square),
        ("sgn", np.sign),
        ("neg", np.negative),
    ],
)
def test_old_names_of_elementwise_functions(old, expected):
    np.testing.assert_allclose(value_of(getattr(T, old)(A)), expected(A))


def test_comparisons_and_bits():
    x, y = np.array([1, 2, 3]), np.array([3, 2, 1])
    for name, expected in {"neq": x != y, "eq": x == y, "lt": x < y, "ge": x >= y}.items():
        np.testing.assert_array_equal(value_of(getattr(T, name)(x, y)), expected)
    for name, expected in {"xor": x ^ y, "or_": x | y, "and_": x & y, "bitwise_or": x | y}.items():
        np.testing.assert_array_equal(value_of(getattr(T, name)(x, y)), expected)
    np.testing.assert_array_equal(value_of(T.switch(T.gt(x, y), x, -y)), [-3, -2, 3])


def test_stack_in_both_forms():
    expected = np.stack([A, 2 * A])
    np.testing.assert_array_equal(value_of(T.stack([A, 2 * A])), expected)
    np.testing.assert_array_equal(value_of(T.stack(A, 2 * A)), expected)
    np.testing.assert_array_equal(value_of(T.stack([A, A], axis=1)), np.stack([A, A], 1))
    np.testing.assert_array_equal(value_of(T.stack((A, A), -1)), np.stack([A, A], -1))
    np.testing.assert_array_equal(value_of(T.stack(tensors=[1.0, 2.0])), [1, 2])
    with pytest.raises(ValueError, match="at least one tensor"):
        T.stack([])
    with pytest.raises(TypeError, match="'tensors' and 'axis'"):
        T.stack([A], axes=1)


def test_flatten_with_the_old_keyword():
    x = np.arange(24).reshape(2, 3, 4)
    assert value_of(T.flatten(x)).shape == (24,)
    assert value_of(T.flatten(x, 2)).shape == value_of(T.flatten(x, outdim=2)).shape == (2, 12)
    with pytest.raises(ValueError, match="got both"):
        T.flatten(x, 2, outdim=2)


def test_reshape_tile_and_split_take_theanos_arguments():
    x, shape = T.dmatrix(), T.lvector()
    assert compiled([x, shape], T.reshape(x, shape, 3))(A, [2, 2, 3]).shape == (2, 2, 3)
    np.testing.assert_array_equal(
        compiled([x, shape], T.tile(x, shape, 2))(A, [2, 1]), np.tile(A, [2, 1])
    )
    np.testing.assert_array_equal(value_of(T.tile(A, (2,), ndim=3)), np.tile(A, (1, 1, 2)))
    with pytest.raises(ValueError, match="ndim >= len"):
        T.tile(A, (1, 2, 3), ndim=2)
    first, rest = compiled([x], T.split(x, [1, 3], 2, axis=1))(A)
    np.testing.assert_array_equal(first, A[:, :1])
    np.testing.assert_array_equal(rest, A[:, 1:])


def test_broadcastable_patterns():
    x = T.dmatrix("x")
    assert T.addbroadcast(x, 1).broadcastable == (False, True)
    assert T.unbroadcast(T.drow(), 0).broadcastable == (False, False)
    assert T.patternbroadcast(T.drow(), (False, True)).broadcastable == (False, True)
    assert T.unbroadcast(x, 0) is x
    with pytest.raises(AssertionError, match=r"Got shape \(3, 4\), expected \(None, 1\)"):
        compiled([x], T.addbroadcast(x, 1))(A)
    with pytest.raises(ValueError, match="expected dimensions"):
        T.patternbroadcast(x, (True, True, True))


def test_unbroadcast_has_a_value_and_a_gradient():
    row, direction = T.drow("row"), T.drow("direction")
    cost = (T.unbroadcast(row, 0) ** 2).sum()
    gradient, forward = theano.grad(cost, row), theano.Rop(cost, row, direction)
    assert gradient.type.broadcastable == (True, False)
    value, slope, along = theano.function([row, direction], [cost, gradient, forward])(
        A[:1], A[1:2]
    )
    assert value == pytest.approx((A[0] ** 2).sum())
    np.testing.assert_allclose(slope, 2 * A[:1])
    assert along == pytest.approx((2 * A[0] * A[1]).sum())


def test_unbroadcast_lets_a_state_of_length_one_grow_in_type():
    start = T.unbroadcast(T.zeros((1, 4)), 0)
    outputs, _ = theano.scan(lambda x, h: h + x, sequences=T.dtensor3("xs"), outputs_info=start)
    xs = theano.gof.graph.inputs([outputs])
    xs = [v for v in xs if v.name == "xs"]
    result = theano.function(xs, outputs)(np.ones((3, 1, 4)))
    np.testing.assert_array_equal(result[:, 0, 0], [1, 2, 3])


def test_batched_products_without_a_warning():
    x, y = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        dots = [
            T.batched_dot(x, y),
            T.batched_dot(x[:, 0], y),
            T.batched_tensordot(x, y, axes=[[2], [1]]),
        ]
    np.testing.assert_allclose(value_of(dots[0]), x @ y)
    np.testing.assert_allclose(value_of(dots[1]), np.einsum("bk,bkj->bj", x[:, 0], y))
    np.testing.assert_allclose(value_of(dots[2]), x @ y)
    with pytest.raises(TypeError, match="first dimension for the batch"):
        T.batched_dot(T.dscalar(), T.dmatrix())


def test_products_and_indexing():
    np.testing.assert_allclose(value_of(T.dot(A, A.T)), A @ A.T)
    np.testing.assert_allclose(value_of(T.tensordot(A, A, [[1], [1]])), A @ A.T)
    np.testing.assert_array_equal(value_of(T.set_subtensor(T.zeros((3,))[1:], 2.0)), [0, 2, 2])
    np.testing.assert_array_equal(value_of(T.inc_subtensor(T.ones((3,))[[0, 0]], 2.0)), [5, 1, 1])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_signed_increments_of_unsigned_integers_wrap_around(dtype, mode):
    x = T.vector(dtype=dtype)
    increased = [T.inc_subtensor(x[1:], 1), T.inc_subtensor(x[[0, 2, 0]], -1)]
    values = np.array([0, 255, 1], dtype)
    one_more, less = theano.function([x], increased, mode=mode)(values)
    np.testing.assert_array_equal(one_more, values + np.array([0, 1, 1], dtype))
    np.testing.assert_array_equal(less, values - np.array([2, 0, 1], dtype))
    assert one_more.dtype == less.dtype == dtype


def test_extra_ops():
    np.testing.assert_array_equal(value_of(T.repeat(x=A, repeats=2, axis=1)), np.repeat(A, 2, 1))
    hot = value_of(T.extra_ops.to_one_hot(np.array([2, 0]), 3, dtype="int32"))
    np.testing.assert_array_equal(hot, [[0, 0, 1], [1, 0, 0]])
    assert hot.dtype == "int32"
    np.testing.assert_array_equal(value_of(T.xlogx.xlogy0(np.zeros(1), np.zeros(1))), [0])
    assert value_of(T.xlogx.xlogx(2.0)) == pytest.approx(2 * np.log(2))


def test_functions_that_pytensor_renamed_come_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs = [T.sgn(A), T.chi2sf(2.0, 2.0), T.nlinalg.extract_diag(A), T.extract_diag(A)]
        RandomStreams(1).uniform((2,))
        T.slinalg.cholesky(T.dmatrix())
    sign, tail, diagonal, again = compiled([], outputs)()
    np.testing.assert_array_equal(sign, np.sign(A))
    assert tail == pytest.approx(np.exp(-1))
    np.testing.assert_array_equal(diagonal, np.diag(A))
    np.testing.assert_array_equal(again, np.diag(A))


def test_extract_constant_gives_back_what_is_not_constant():
    x = T.dscalar("x")
    assert T.basic.extract_constant(T.constant(3)) == 3
    assert T.basic.extract_constant(x) is x
    with pytest.raises(T.basic.NotScalarConstantError):
        T.get_scalar_constant_value(x)


@pytest.mark.parametrize("axis", [-1, 0, None])
@pytest.mark.parametrize("count", [2, -2])
def test_topk(axis, count):
    largest, where = compiled([], T.topk_and_argtopk(A, count, axis=axis))()
    ordered = np.sort(A, axis=axis)
    wanted = np.take(ordered, range(-2, 0) if count > 0 else range(2), axis=axis)
    np.testing.assert_array_equal(np.sort(largest, axis=-1 if axis is None else axis), wanted)
    source = A.flatten() if axis is None else A
    found = np.take_along_axis(source, where, axis=0 if axis is None else axis)
    np.testing.assert_array_equal(found, largest)


def test_linear_algebra():
    square = A @ A.T + np.eye(3)
    np.testing.assert_allclose(value_of(T.nlinalg.matrix_inverse(square)), np.linalg.inv(square))
    q, r = compiled([], T.nlinalg.qr(A.T))()
    assert q.shape == (4, 3)
    np.testing.assert_allclose(q @ r, A.T)
    values, _ = compiled([], T.nlinalg.eigh(square, "U"))()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(square))
    solution = value_of(T.slinalg.solve_lower_triangular(np.tril(square), A))
    np.testing.assert_allclose(np.tril(square) @ solution, A)
    with pytest.raises(np.linalg.LinAlgError):
        value_of(T.slinalg.cholesky(-square))


def test_inplace_operators():
    x = T.dmatrix("x")
    node = T.inplace.exp_inplace(x).owner
    assert node.op.destroy_map == {0: [0]}
    with pytest.raises(AttributeError, match="no attribute 'nothing_inplace'"):
        _ = T.inplace.nothing_inplace


def test_assertions_raise_when_the_graph_runs():
    x = T.dscalar("x")
    f = compiled([x], T.opt.Assert("x must be positive")(x, x > 0))
    assert f(1.0) == 1
    with pytest.raises(AssertionError, match="x must be positive"):
        f(-1.0)


def test_sparse_names_come_from_pytensor():
    import theano.sparse

    x = theano.sparse.csr_matrix("x")
    assert x.format == "csr"
    assert isinstance(x.type, theano.sparse.SparseType)
    assert theano.sparse.SparseType("csr", "float32")().type.dtype == "float32"
    assert "int8" in theano.sparse.SparseType.dtype_set
    assert "float16" not in theano.sparse.SparseType.dtype_set
    with pytest.raises(AttributeError, match=r"theano\.sparse"):
        _ = theano.sparse.nothing


def test_a_part_can_be_set_from_another_part_of_the_array():
    x = theano.shared(np.arange(4.0))
    moved = T.inc_subtensor(x[2:], x[:2], tolerate_inplace_aliasing=True)
    kept = T.set_subtensor(x[2:], x[:2], tolerate_inplace_aliasing=True)
    function = theano.function([], kept, updates=[(x, moved)])
    np.testing.assert_array_equal(function(), [0, 1, 0, 1])
    np.testing.assert_array_equal(x.get_value(), [0, 1, 2, 4])


def test_small_numbers_are_shared_constants():
    assert T.constant(1.5) is T.constant(1.5) and T.constant(1.5).cached
    assert T.constant(1.5) is not T.constant(1.5, dtype="float64")
    assert T.constant(1.5, ndim=2).type.ndim == 2
    assert T.constant(1.5, name="c").name == "c" and T.constant(1.5).name is None
    assert T.constant(11.0) is not T.constant(11.0)
    given = np.array(2.0)
    shared = T.constant(given)
    given[()] = 3.0
    assert shared.data == 2.0 and T.constant(np.array(2.0)) is shared


def test_type_of_a_variable_equals_the_class_that_theano_names():
    """As GroundHog's decoder asks, to tell variables from layers."""
    x, w = T.matrix(), theano.shared(np.ones((2, 2)))
    seen = []

    def step(h, w):
        seen.append(h.__class__ == T.TensorVariable)
        return T.dot(h, w)

    theano.scan(step, outputs_info=x, non_sequences=w.astype(x.dtype), n_steps=2)
    assert seen
    assert all(seen)
    assert T.exp(x).__class__ == T.TensorVariable
    assert type(x) in {T.TensorVariable, T.TensorConstant}
    assert w.__class__ == T.sharedvar.TensorSharedVariable != T.TensorVariable
    assert T.constant(1.0).__class__ == T.TensorConstant != T.TensorVariable

    class Own(T.TensorVariable):
        pass

    assert x.__class__ != Own != T.TensorVariable
    assert isinstance(x, T.TensorVariable)
    assert not isinstance(x, Own)
    assert isinstance(Own(x.type), T.TensorVariable)


def test_a_tensor_variable_is_made_of_its_type():
    x = T.TensorVariable(T.dvector, name="x")
    assert x.owner is None and isinstance(T.dvector(), T.TensorVariable)
    assert theano.function([x], x + 1)([1.0]).tolist() == [2.0]


def test_split_into_one_part_of_a_length_that_is_an_input():
    x, lengths = T.dmatrix("x"), T.ivector("lengths")
    part = T.split(x, lengths, n_splits=1)
    np.testing.assert_array_equal(theano.function([x, lengths], part)(A, [len(A)]), A)


@pytest.mark.parametrize("transposed", [False, True])
def test_solving_with_a_cholesky_factor_is_triangular_and_still_checks_the_factor(transposed):
    a, b = T.dmatrix("a"), T.dvector("b")
    factor = T.slinalg.cholesky(a)
    f = theano.function([a, b], T.slinalg.solve(factor.T if transposed else factor, b))
    operators = {type(node.op).__name__ for node in f.maker.fgraph.apply_nodes}
    assert "SolveTriangular" in operators and "Solve" not in operators
    square = np.array([[4.0, 1.0], [1.0, 3.0]])
    expected = np.linalg.cholesky(square)
    expected = expected.T if transposed else expected
    np.testing.assert_allclose(f(square, [1.0, 2.0]), np.linalg.solve(expected, [1.0, 2.0]))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        f(-square, [1.0, 2.0])


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(lambda x: [(x, x + 1)], id="pairs"),
        pytest.param(lambda x: [None], id="list"),
        pytest.param(lambda x: np.array(["text"]), id="text"),
        pytest.param(lambda x: {"x": x}, id="dict"),
    ],
)
def test_what_is_no_tensor_is_named(value):
    """Among others the updates of a program, to which a variable was added."""
    given = value(T.dscalar("x"))
    with pytest.raises(T.AsTensorError, match="Cannot convert") as error:
        T.as_tensor_variable(given)
    assert repr(given) in str(error.value)


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda x: T.repeat(x, 1.5), id="repeat"),
        pytest.param(lambda x: T.repeat(x, [0.5, 1], axis=0), id="repeat each"),
        pytest.param(lambda x: T.nlinalg.matrix_power(x, 1.5), id="matrix_power"),
    ],
)
def test_fractions_of_repetitions_are_refused(use):
    """They were cut off."""
    with pytest.raises(TypeError, match="expected"):
        use(T.dmatrix("x"))


def test_repetitions_that_are_whole_numbers():
    x = T.dmatrix("x")
    value = np.array([[2.0, 1.0], [0.0, 3.0]])
    for power in (3, np.int64(-2), 0):
        found = T.nlinalg.matrix_power(x, power).eval({x: value})
        np.testing.assert_allclose(found, np.linalg.matrix_power(value, power), atol=1e-12)
    for repeats in (2, np.array([0, 2]), [T.constant(1), 2]):
        expected = np.repeat(value, [1, 2] if isinstance(repeats, list) else repeats, axis=0)
        np.testing.assert_allclose(T.repeat(x, repeats, axis=0).eval({x: value}), expected)


def test_a_triangle_that_is_none_is_refused():
    with pytest.raises(AssertionError, match="eigh: expected UPLO to be 'L' or 'U', got 'X'"):
        T.nlinalg.eigh(T.dmatrix("x"), "X")


@pytest.mark.parametrize("thing", [None, object(), "text", {}])
@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda x: T.stack([T.dvector(), x]), id="stack"),
        pytest.param(lambda x: T.concatenate([T.dvector(), x]), id="concatenate"),
        pytest.param(lambda x: T.set_subtensor(T.dvector()[0], x), id="set_subtensor"),
        pytest.param(lambda x: T.repeat(x, 2), id="repeat"),
    ],
)
@pytest.mark.parametrize("error", [T.AsTensorError, TypeError])
def test_what_is_no_tensor_is_theanos_error_in_functions(use, thing, error):
    with pytest.raises(error, match="Cannot convert"):
        use(thing)
