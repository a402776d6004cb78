"""`theano.gradient`: products with the Jacobian, and ways to change a gradient."""

import functools

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gradient import (
    DisconnectedInputError,
    DisconnectedType,
    GradientError,
    NullTypeGradError,
    consider_constant,
    disconnected_grad,
    grad_clip,
    grad_not_implemented,
    grad_scale,
    grad_undefined,
    zero_grad,
)

compiled = functools.partial(theano.function, mode="FAST_COMPILE")
RNG = np.random.default_rng(5)
X, W, V = RNG.normal(size=4), RNG.normal(size=(3, 4)), RNG.normal(size=4)


def jacobian_of_tanh():
    y = np.tanh(W @ X)
    return (1 - y**2)[:, None] * W


def test_rop_and_lop_are_products_with_the_jacobian():
    x, v, u = T.dvectors("x", "v", "u")
    y = T.tanh(T.dot(W, x))
    right, left = theano.Rop(y, x, v), theano.Lop(y, x, u)
    r, lf = compiled([x, v, u], [right, left])(X, V, np.ones(3))
    np.testing.assert_allclose(r, jacobian_of_tanh() @ V)
    np.testing.assert_allclose(lf, np.ones(3) @ jacobian_of_tanh())


def test_rop_and_lop_of_lists_give_lists():
    x, z, v = T.dvectors("x", "z", "v")
    results = theano.Rop([x * z, z], [x, z], [v, v])
    assert isinstance(results, list) and len(results) == 2
    first, second = compiled([x, z, v], results)(X, 2 * X, V)
    np.testing.assert_allclose(first, 3 * X * V)
    np.testing.assert_allclose(second, V)
    assert isinstance(theano.Lop([x * z], [x, z], [v]), list)
    assert T.Rop is theano.Rop is theano.gradient.Rop


@pytest.mark.parametrize("columns", [lambda x: 2, lambda x: x.shape[0] // 2])
def test_rop_through_a_shape_made_of_integers(columns):
    x, v = T.dvectors("x", "v")
    shape = T.stack([columns(x), T.constant(2)])
    y = (x**2).reshape(shape, ndim=2).sum(axis=0)
    result = theano.function([x, v], theano.Rop(y, x, v))(np.arange(4.0), np.ones(4))
    np.testing.assert_allclose(result, [4.0, 8.0])


def test_rop_of_a_loop():
    x, v = T.dvectors("x", "v")
    states, _ = theano.scan(lambda h: T.tanh(T.dot(W[:, :3], h)), outputs_info=x, n_steps=3)
    result = theano.function([x, v], theano.Rop(states[-1], x, v))(X[:3], V[:3])
    step, total = X[:3], V[:3]
    for _ in range(3):
        step = np.tanh(W[:, :3] @ step)
        total = (1 - step**2) * (W[:, :3] @ total)
    np.testing.assert_allclose(result, total)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", theano.Mode("py", None)])
@pytest.mark.parametrize("exponent", ["constant", "variable", "invariant", "state", "inside"])
def test_rop_of_powers_of_negative_numbers(exponent, mode):
    x, v, y = T.dvector("x"), T.dvector("v"), T.dscalar("y")
    if exponent == "constant":
        power = x**2
    elif exponent == "variable":
        power = x**y
    elif exponent == "inside":
        power = theano.OpFromGraph([x, y], [x**2 * y])(x, y) / y
    elif exponent == "invariant":
        power, _ = theano.scan(lambda u, y: u**y, sequences=x, non_sequences=y)
    else:
        (power, _), _ = theano.scan(lambda u, y: (u**y, y + 0), sequences=x, outputs_info=[None, y])
    tangent = theano.Rop(power, x, v)
    second = theano.grad(tangent.sum(), x)
    f = theano.function([x, v, y], [tangent, second], mode=mode, on_unused_input="ignore")
    found = f([-3.0, 2.0], [1.0, 0.5], 2.0)
    np.testing.assert_allclose(found, [[-6.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", theano.Mode("py", None)])
@pytest.mark.parametrize("looped", [False, True])
def test_rop_of_what_is_normalised_by_an_operator_of_a_graph(looped, mode):
    x, v = T.dmatrices("x", "v")

    def normalised(gain):
        return T.nnet.bn.batch_normalization_train(x, 1 + gain, 2 * gain)[0]

    values = normalised(x[0])
    if looped:
        values, _ = theano.scan(lambda shift, x: normalised(x[0]) + shift, T.arange(2), [None], x)
    cost = T.sin(values).sum()
    tangent, expected = theano.Rop(cost, x, v), (theano.grad(cost, x) * v).sum()
    f = theano.function([x, v], [tangent, expected], mode=mode)
    found = f([[-1.0, 0.5], [0.3, -0.2], [0.7, 0.9]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_allclose(found[0], found[1])


def test_rop_of_a_state_that_depends_on_no_variable_is_zero():
    x, v, y = T.dvector("x"), T.dvector("v"), T.dscalar("y")
    (_, state), _ = theano.scan(
        lambda u, y: (u * y, 2 * y), sequences=x, outputs_info=[None, y], n_steps=2
    )
    tangent = theano.Rop(state, x, v)
    f = theano.function([x, v, y], tangent, on_unused_input="ignore")
    np.testing.assert_array_equal(f([1, 2], [1, 1], 3), [0, 0])


def test_the_tangent_of_a_product_has_a_gradient_by_its_factor():
    x, v = T.vectors("x", "v")
    slope = theano.grad(theano.Rop(2 * x, x, v).sum(), x)
    np.testing.assert_array_equal(theano.function([x, v], slope)([1, 2], [3, 4]), [0, 0])


def test_rop_of_what_is_written_into_zeros():
    x, v = T.vectors("x", "v")
    written = T.inc_subtensor(T.zeros_like(x)[1:], x[1:] ** 2)
    tangent = theano.function([x, v], theano.Rop(written, x, v))
    np.testing.assert_allclose(tangent([1, -2, 3], [1, 1, 2]), [0, -4, 12])


def test_directions_may_be_told_of_lengths_that_a_loop_is_not_told():
    x = T.matrix("x")
    doubled, _ = theano.scan(lambda row: 2 * row, sequences=x)
    direction = T.constant(np.ones((3, 1)))
    known = theano.grad(None, x, known_grads={doubled: direction})
    found = [theano.Rop(doubled, x, direction), theano.Lop(doubled, x, direction), known]
    for value in theano.function([x], found)(np.ones((3, 1))):
        np.testing.assert_array_equal(value, np.full((3, 1), 2.0))


def test_rop_of_what_does_not_depend_on_the_variable():
    x, z, v = T.dvectors("x", "z", "v")
    for f in (z, [T.sort(x), z]):
        with pytest.raises(DisconnectedInputError):
            theano.Rop(f, x, v)
    # a cumulative sum and a sort have no rule for forward differentiation
    computed = [theano.Rop(f(z), x, v) for f in (lambda z: z * 2, T.cumsum, T.sort)]
    for f in (theano.Rop(z, x, v, disconnected_outputs="ignore"), *computed):
        zero = compiled([x, z, v], f, on_unused_input="ignore")(X, X, V)
        np.testing.assert_array_equal(zero, np.zeros(4))


class WithoutTangent(theano.Op):
    """The same number; how it changes is not told."""

    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0]

    def R_op(self, inputs, eval_points):
        return [None]


def test_rop_through_an_operation_without_one_is_an_error_also_of_other_variables():
    x, y, v = T.dvectors("x", "y", "v")
    for read in (x, y):
        with pytest.raises(DisconnectedInputError):
            theano.Rop(T.exp(WithoutTangent()(read)), x, v)


def test_grad_of_what_does_not_depend_on_the_variable():
    x, z = T.dscalars("x", "z")
    with pytest.raises(DisconnectedInputError):
        theano.grad(x**2, z)
    assert theano.grad(x**2, [x, z], disconnected_inputs="ignore")[1].ndim == 0
    kept = theano.grad(x**2, z, disconnected_inputs="ignore", return_disconnected="disconnected")
    assert isinstance(kept.type, DisconnectedType)
    with pytest.raises(TypeError, match="scalar"):
        theano.grad(T.dvector(), x)


def test_error_names_what_the_cost_does_not_depend_on():
    x, chosen = T.vector("x"), T.iscalar("chosen")
    with pytest.raises(
        DisconnectedInputError, match="^grad: the cost does not depend on chosen, or"
    ):
        theano.grad(x[chosen], [x, chosen])


def test_known_grads_and_consider_constant_argument():
    x, g = T.dvectors("x", "g")
    y = x**2
    by_known = theano.grad(None, x, known_grads={y: g})
    np.testing.assert_allclose(compiled([x, g], by_known)(X, V), 2 * X * V)
    constant = theano.grad((x * y).sum(), x, consider_constant=[y])
    np.testing.assert_allclose(compiled([x], constant)(X), X**2)


@pytest.mark.parametrize("cut", [consider_constant, disconnected_grad, zero_grad])
def test_gradient_is_cut(cut):
    x = T.dvector("x")
    gradient = theano.grad((x * cut(x**2)).sum(), x)
    np.testing.assert_allclose(compiled([x], gradient)(X), X**2)


def test_what_is_cut_has_a_tangent_of_zeros():
    x, v = T.dvectors("x", "v")
    for value, tangent in ((zero_grad(x), 0 * V), (x * zero_grad(x**2), V * X**2)):
        found = theano.Rop(value, x, v)
        assert found.ndim == 1
        function = theano.function([x, v], found, on_unused_input="ignore")
        np.testing.assert_allclose(function(X, V), tangent)


def test_grad_scale():
    x = T.dvector("x")
    gradient = theano.grad((grad_scale(x, -2.0) ** 2).sum(), x)
    np.testing.assert_allclose(compiled([x], gradient)(X), -4 * X)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_grad_clip_clips_the_gradient_and_nothing_else(mode):
    x = T.dvector("x")
    value = grad_clip(x, -0.5, 1.0)
    f = theano.function([x], [value, theano.grad((value**2).sum(), x)], mode=mode)
    at = np.array([-3.0, -0.1, 0.2, 4.0])
    same, gradient = f(at)
    np.testing.assert_array_equal(same, at)
    np.testing.assert_allclose(gradient, [-0.5, -0.2, 0.4, 1.0])


def test_grad_clip_keeps_the_bounds_of_each_of_two_loops():
    x = T.dvector("x")

    def last(bound):
        states, _ = theano.scan(
            lambda h: 2 * grad_clip(h, -bound, bound), outputs_info=x, n_steps=3
        )
        return states[-1].sum()

    gradients = [theano.grad(last(bound), x) for bound in (0.5, 1.5, 100.0)]
    narrow, wide, free = theano.function([x], gradients)(X)
    np.testing.assert_allclose(narrow, 0.5 * np.ones(4))
    np.testing.assert_allclose(wide, 1.5 * np.ones(4))
    np.testing.assert_allclose(free, 8 * np.ones(4))


def test_grad_clip_lets_rop_through_and_checks_its_bounds():
    x, v = T.dvectors("x", "v")
    along = theano.Rop(grad_clip(x, -0.1, 0.1) * 3, x, v)
    np.testing.assert_allclose(compiled([x, v], along, on_unused_input="ignore")(X, V), 3 * V)
    with pytest.raises(ValueError, match="lower_bound <= upper_bound"):
        grad_clip(x, 1, -1)


def test_jacobian_and_hessian():
    x = T.dvector("x")
    y = T.tanh(T.dot(W, x))
    jacobian = theano.gradient.jacobian(y, x)
    hessian = theano.gradient.hessian((x**3).sum(), x)
    j, h = compiled([x], [jacobian, hessian])(X)
    np.testing.assert_allclose(j, jacobian_of_tanh())
    np.testing.assert_allclose(h, np.diag(6 * X), atol=1e-12)


@pytest.mark.parametrize("error", [AssertionError, ValueError, TypeError])
def test_jacobian_and_hessian_refuse_other_dimensions(error):
    x, m = T.dvector("x"), T.dmatrix("m")
    with pytest.raises(error, match="hessian: expected wrt to be vectors, got m of Matrix"):
        T.hessian(m.sum(), [m])
    with pytest.raises(error, match="hessian: expected wrt to be vectors, got 3"):
        T.hessian(x.sum(), 3)
    with pytest.raises(error, match="hessian: expected a scalar as cost, got x"):
        T.hessian(x, x)
    with pytest.raises(error, match="jacobian: expected a vector or a scalar, got m"):
        T.jacobian(m, x)
    with pytest.raises(error, match="jacobian: expected a vector or a scalar, got None"):
        T.jacobian(None, x)


def test_gradients_that_an_operator_does_not_give():
    class Half(theano.Op):
        __props__ = ("missing",)
        itypes = [T.dscalar]
        otypes = [T.dscalar]

        def __init__(self, missing):
            self.missing = missing

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.asarray(inputs[0] / 2)

        def grad(self, inputs, output_grads):
            return [self.missing(self, 0, inputs[0], "on purpose")]

    x = T.dscalar("x")
    for missing in (grad_not_implemented, grad_undefined):
        with pytest.raises(NullTypeGradError, match="on purpose"):
            theano.grad(Half(missing)(x), x)


def test_verify_grad_finds_a_wrong_gradient():
    rng = np.random.default_rng(0)
    T.verify_grad(T.tanh, [X], rng=rng, mode="FAST_COMPILE")
    with pytest.raises(GradientError):
        T.verify_grad(lambda x: grad_scale(x, 2.0), [X], rng=rng, mode="FAST_COMPILE")


@pytest.mark.parametrize("wrt", ["x", None, [T.dscalar(), "x"]])
def test_grad_is_with_respect_to_variables(wrt):
    with pytest.raises(TypeError, match="grad: expected wrt to be variables"):
        theano.grad(T.dscalar("x") ** 2, wrt)


@pytest.mark.parametrize("compare", [T.gt, T.le, T.eq, lambda x, y: T.isnan(x) + 0 * y])
def test_comparisons_do_not_widen_gradients(compare):
    """As an update of a float32 variable would refuse them, where floatX is float64."""
    with theano.config.change_flags(floatX="float64"):
        W = theano.shared(np.array([2.0, -1.0], "float32"))
        cost = T.switch(compare(W, 0), 3 * W, W * W).sum()
        gradients = theano.grad(cost, [W]) + [theano.grad(cost, W)]
        assert [g.dtype for g in gradients] == ["float32"] * 2
        f = theano.function([], cost, updates=[(W, W - np.float32(0.5) * gradients[0])])
        f()
        chosen = compare(np.array([2.0, -1.0]), 0).eval()
        expected = np.where(chosen, [0.5, -2.5], [0.0, 0.0])
        np.testing.assert_allclose(W.get_value(), expected)


def test_gradients_by_what_is_only_compared_are_zeros():
    with theano.config.change_flags(floatX="float64"):
        x, y = T.fvectors("x", "y")
        cost = T.switch(T.gt(y, x), x * x, x).sum()
        by_x, by_y = theano.grad(cost, (x, y))
        found = theano.function([x, y], [by_x, by_y])([3, 3], [4, 2])
        assert by_x.dtype == "float32"
        np.testing.assert_array_equal(found, [[6, 1], [0, 0]])


def test_gradients_that_are_wide_for_another_reason_stay_so():
    with theano.config.change_flags(floatX="float64"):
        x, d = T.fvector("x"), T.dvector("d")
        assert theano.grad(T.switch(T.gt(x, 0), x * d, 0).sum(), x).dtype == "float64"
