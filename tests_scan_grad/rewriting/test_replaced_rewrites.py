"""PyTensor rewrites that are wrong, and what runs in their place."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.rewriting.lazy_shapes import LazyShapeFeature
from theano.tensor.elemwise import DimShuffle
from theano.tensor.subtensor import IncSubtensor, Subtensor

MODES = ["FAST_RUN", "FAST_COMPILE"]


def nodes(fn, op):
    return [node for node in fn.maker.fgraph.apply_nodes if isinstance(node.op, op)]


Z = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rows", [4, None])
@pytest.mark.parametrize(
    "part",
    [np.s_[3:2:-1], np.s_[:2:-1], np.s_[-9:1], np.s_[9:2:-1], np.s_[1:2], np.s_[::9], np.s_[-1:]],
    ids=str,
)
def test_a_slice_of_one_row_summed_over_is_that_row(mode, rows, part):
    z = T.TensorType("float64", shape=(rows, 2))("z")
    row = T.specify_shape(z, (4, 2)) if rows is None else z
    fn = theano.function([z], row[part].sum(0), mode=mode)
    np.testing.assert_array_equal(fn(Z), Z[part].sum(0))


def test_one_element_is_still_read_where_it_is_known():
    z = T.TensorType("float64", shape=(4, 2))("z")
    fn = theano.function([z], z[3:2:-1].dimshuffle(1), mode="FAST_RUN")
    assert not nodes(fn, DimShuffle)
    [read] = nodes(fn, Subtensor)
    assert read.op.idx_list[0] == 0


X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(None, None), (3, 2)], ids=str)
def test_the_gradient_of_a_mean_and_of_a_row_has_the_shape_of_both(mode, shape):
    x = T.TensorType("float64", shape=shape)("x")
    w, u = T.dvectors("w", "u")
    cost = (x.mean(0) * w).sum() + (x[0] * u).sum()
    fn = theano.function([x, w, u], T.grad(cost, x), mode=mode)
    expected = np.tile([1 / 3, 2 / 3], (3, 1)) + [[5, 6], [0, 0], [0, 0]]
    np.testing.assert_allclose(fn(X, [1.0, 2.0], [5.0, 6.0]), expected)


@pytest.mark.parametrize("mode", MODES)
def test_a_mean_plus_a_diagonal_matrix_is_a_matrix(mode):
    x = T.dmatrix("x")
    d = T.dvector("d")
    fn = theano.function([x, d], x.mean(0) + T.diag(d), mode=mode)
    np.testing.assert_allclose(fn(X, [1.0, 2.0]), X.mean(0) + np.diag([1.0, 2.0]))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_set_twice_is_not_added_twice(mode):
    x, v = T.dvectors("x", "v")
    total = x + T.set_subtensor(T.zeros_like(x)[T.constant([0, 0])], v)
    fn = theano.function([x, v], total, mode=mode)
    np.testing.assert_array_equal(fn([1.0, 1.0], [5.0, 7.0]), [8.0, 1.0])


@pytest.mark.parametrize("mode", MODES)
def test_a_sum_with_a_write_has_the_dtype_of_the_sum(mode):
    k = T.lvector("k")
    v = T.dscalar("v")
    total = k + T.set_subtensor(T.zeros((3,))[0], v)
    fn = theano.function([k, v], total, mode=mode)
    result = fn([1, 2, 3], 0.5)
    assert result.dtype == "float64"
    np.testing.assert_array_equal(result, [1.5, 2, 3])


@pytest.mark.parametrize("mode", MODES)
def test_a_sum_with_a_write_of_another_length_is_an_error(mode):
    x, y = T.dvectors("x", "y")
    fn = theano.function([x, y], x + T.set_subtensor(T.zeros_like(y)[0], 1.0), mode=mode)
    with pytest.raises(ValueError):
        fn([1.0, 2.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("mode", MODES)
def test_a_sum_with_a_write_of_its_own_shape_is_a_write(mode):
    x, v = T.dmatrix("x"), T.dvector("v")
    total = T.exp(x) + T.inc_subtensor(T.zeros_like(x)[0], v)
    fn = theano.function([x, v], total, mode=mode)
    np.testing.assert_allclose(fn(X, [1.0, 2.0]), np.exp(X) + [[1, 2], [0, 0], [0, 0]])
    [write] = nodes(fn, IncSubtensor)
    assert not write.op.set_instead_of_inc
    assert not isinstance(write.inputs[0], theano.gof.Constant)


@pytest.mark.parametrize("mode", MODES)
def test_small_graphs_that_grow_are_not_said_to_be_rewritten_without_end(mode, caplog):
    x, v = T.bmatrix("x"), T.bscalar("v")
    fn = theano.function([x, v], T.set_subtensor(x[::-1, :], v), mode=mode)
    np.testing.assert_array_equal(fn(np.ones((2, 3), "int8"), 7), np.full((2, 3), 7))
    assert not caplog.records


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("combine", [np.add, np.multiply])
def test_integers_of_three_operands_wrap_as_those_of_two(mode, combine):
    x, y, z = (T.bvector(name) for name in "xyz")
    theanos = T.add if combine is np.add else T.mul
    fn = theano.function([x, y, z], theanos(theanos(x, y), z), mode=mode)
    value = np.array([100, 3], "int8")
    np.testing.assert_array_equal(fn(value, value, value), combine(combine(value, value), value))


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize("given", ["int8", "int64", "uint64", "float64"])
@pytest.mark.parametrize("wanted", ["int8", "uint8", "uint64", "bool"])
def test_casts_wrap_in_every_mode(given, wanted, mode):
    x = T.TensorType(given, (False,))("x")
    value = np.array([-23, 100, 1, 0], "int8").astype(given)
    expected = value.astype("int64").astype(wanted)
    if given == "float64" and wanted == "uint64":
        value, expected = value[1:], expected[1:]
    np.testing.assert_array_equal(
        theano.function([x], T.cast(x, wanted), mode=mode)(value), expected
    )


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_an_array_without_elements_takes_other_lengths(mode):
    x = T.dmatrix("x")
    function = theano.function([x], x.reshape((x.shape[0], 1)), mode=mode)
    assert function(np.zeros((0, 3))).shape == (0, 1)
    assert function(np.zeros((2, 1))).shape == (2, 1)
    with pytest.raises(ValueError):
        function(np.zeros((2, 3)))
    kept = theano.function([x], [x.reshape(x.shape), x.reshape((x.shape[0], -1))], mode=mode)
    assert not nodes(kept, theano.tensor.basic.Reshape)


WRITES_TO_ALL = {
    "set": lambda x, y: T.set_subtensor(x[:], y),
    "set in reverse": lambda x, y: T.set_subtensor(x[::-1], y),
    "added to zeros": lambda x, y: T.inc_subtensor(T.zeros_like(x)[:], y),
    "up to the length": lambda x, y: T.set_subtensor(x[: x.shape[0]], y),
}


@pytest.mark.parametrize("mode", [*MODES, "XLA"])
@pytest.mark.parametrize("write", WRITES_TO_ALL.values(), ids=[*WRITES_TO_ALL])
def test_what_is_written_to_all_places_must_be_as_long(mode, write):
    x, y = T.dvectors("x", "y")
    fn = theano.function([x, y], write(x, y), mode=mode)
    np.testing.assert_array_equal(np.sort(fn(np.zeros(3), np.arange(3.0))), np.arange(3))
    with pytest.raises(ValueError, match="3"):
        fn(np.zeros(3), np.ones(2))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_written_to_all_places_and_fits_is_the_result(mode):
    x = T.dvector("x")
    fn = theano.function([x], T.set_subtensor(x[:], T.exp(x)), mode=mode)
    assert not nodes(fn, IncSubtensor)
    np.testing.assert_allclose(fn(np.zeros(3)), np.ones(3))


@pytest.mark.parametrize("mode", [*MODES, "XLA"])
@pytest.mark.parametrize("left", [True, False])
def test_matrices_of_zeros_must_fit(mode, left):
    x, y = T.dmatrices("x", "y")
    product = T.dot(T.zeros_like(x), y) if left else T.dot(x, T.zeros_like(y))
    fn = theano.function([x, y], product, mode=mode)
    np.testing.assert_array_equal(fn(np.ones((2, 3)), np.ones((3, 4))), np.zeros((2, 4)))
    with pytest.raises((AssertionError, ValueError), match="dot|columns|align"):
        fn(np.ones((2, 3)), np.ones((2, 4)))


@pytest.mark.parametrize("mode", [*MODES, "XLA"])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("kinds", [(T.dvector, T.dvector), (T.dvector, T.dmatrix)])
def test_vectors_of_zeros_must_fit(mode, kinds, left):
    x, y = (kind() for kind in kinds)
    product = T.dot(T.zeros_like(x), y) if left else T.dot(x, T.zeros_like(y))
    fn = theano.function([x, y], product, mode=mode, on_unused_input="ignore")
    right = np.ones((3, 4)[: y.ndim])
    np.testing.assert_array_equal(fn(np.ones(3), right), np.zeros(right.shape[1:]))
    with pytest.raises((AssertionError, ValueError)):
        fn(np.ones(2), right)


@pytest.mark.parametrize("mode", MODES)
def test_a_matrix_of_zeros_that_is_known_to_fit_is_not_multiplied(mode):
    x = T.dmatrix("x")
    fn = theano.function([x], T.dot(x, T.zeros_like(x).T), mode=mode)
    assert not [
        n for n in fn.maker.fgraph.apply_nodes if "Assert" in str(n.op) or "Dot" in str(n.op)
    ]
    np.testing.assert_array_equal(fn(np.ones((2, 3))), np.zeros((2, 2)))


@pytest.mark.parametrize("mode", [*MODES, "XLA"])
def test_rows_that_are_set_and_read_back_must_be_there(mode):
    x, v, rows = T.dmatrix(), T.dmatrix(), T.lvector()
    fn = theano.function([x, v, rows], T.set_subtensor(x[rows], v)[rows], mode=mode)
    given, values = np.zeros((3, 2)), np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(fn(given, values, [-3, 2]), values)
    for places in ([0, 3], [-4, 0], [0]):
        with pytest.raises((AssertionError, IndexError, ValueError)):
            fn(given, values, places)
    with pytest.raises((AssertionError, ValueError)):
        fn(given, np.ones((2, 3)), [0, 1])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_sums_of_gradients_begin_in_memory_whose_lengths_are_not_compared(mode, monkeypatch):
    compared = []
    same_shape = LazyShapeFeature.same_shape

    def counted(self, x, y, *axes, **named):
        compared.append((x, y))
        return same_shape(self, x, y, *axes, **named)

    monkeypatch.setattr(LazyShapeFeature, "same_shape", counted)
    x, w, b = T.matrix("x"), T.matrix("w"), T.vector("b")
    h, _ = theano.scan(
        lambda v, h, w, b: T.tanh(v + h.dot(w) + b),
        sequences=x,
        outputs_info=T.zeros_like(x[0]),
        non_sequences=[w, b],
    )
    gradients = theano.grad(h[-1].sum(), [w, b])
    f = theano.function([x, w, b], gradients, mode=mode)
    kinds = {type(node.op).__name__ for node in f.maker.fgraph.apply_nodes}
    assert not kinds & {"CheckAndRaise", "Assert", "Alloc"}
    filled = [y for _, y in compared if y.owner and isinstance(y.owner.op, T.Alloc)]
    assert not filled
    rng = np.random.default_rng(1)
    values = [rng.normal(size=shape).astype(x.dtype) for shape in ((4, 3), (3, 3), (3,))]
    reference = theano.function([x, w, b], gradients, mode=theano.Mode("py", None))
    for got, expected in zip(f(*values), reference(*values), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_rows_that_are_filled_with_other_lengths_raise_as_before():
    n, m = T.lscalars("n", "m")
    memory = T.AllocEmpty("float64")(n, 3)
    f = theano.function([n, m], T.set_subtensor(memory[:1], T.alloc(0.0, 1, m)))
    assert f(2, 3)[0].tolist() == [0, 0, 0]
    with pytest.raises(ValueError):
        f(2, 4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rows", [None, 3])
def test_a_row_that_is_incremented_is_still_added_to_all_rows(mode, rows):
    x = T.TensorType("float64", shape=(rows, 2))("x")
    row = T.TensorType("float64", shape=(1, 2))("row")
    u = T.dscalar("u")
    increased = T.inc_subtensor(row[0], u)
    fn = theano.function([x, row, u], x + increased + T.inc_subtensor(x[1], u), mode=mode)
    expected = 2 * X + 5.0
    expected[1] += 4.0
    np.testing.assert_array_equal(fn(X, np.ones((1, 2)), 4.0), expected)
