"""Theano's functions and operators of convolutions, next to what engines do with them."""

import pickle
import warnings

import numpy as np
import pytensor
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.images.plain_correlations import Problem
from theano.tensor.nnet import abstract_conv, conv, conv3d2d
from theano.tensor.nnet.corr import CorrMM, CorrMM_gradInputs, CorrMM_gradWeights

RNG = np.random.default_rng(1)
IMAGES = RNG.normal(size=(2, 4, 7, 6))
FILTERS = RNG.normal(size=(3, 4, 3, 2))


def operators(function):
    return {type(node.op) for node in function.maker.fgraph.toposort()}


def value_of(variable, **options):
    return theano.function([], variable, **options)()


def convolved(image, filters, **options):
    """A convolution by plain loops."""
    rank = image.ndim - 2
    plain = {"border_mode": "valid", "subsample": (1,) * rank, "filter_dilation": (1,) * rank}
    problem = Problem(
        **plain | {"num_groups": 1, "unshared": False} | options,
        image=image.shape,
        filters=filters.shape,
    )
    result = (image.shape[0], filters.shape[0], *problem.counts())
    turned = filters[(..., *(slice(None, None, -1),) * rank)]
    whole = Problem(**vars(problem) | {"result": result})
    return whole.evaluated("forward", image=image, filters=turned)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "Mode"])
def test_convolutions_become_correlations_in_our_modes(mode):
    x, w = T.dtensor4(), T.dtensor4()
    y = T.nnet.conv2d(x, w, subsample=(2, 1))
    function = theano.function([x, w], theano.grad((y**2).sum(), [x, w]), mode=mode)
    found = {op for op in operators(function) if "Corr" in op.__name__ or "Conv" in op.__name__}
    assert found == {CorrMM, CorrMM_gradInputs, CorrMM_gradWeights}
    kept = theano.compile.mode.get_mode(mode).excluding("conv_gemm")
    assert abstract_conv.AbstractConv2d in operators(theano.function([x, w], y, mode=kept))


def test_numpy_computes_them_in_modes_of_others():
    x, w = T.dtensor4(), T.dtensor4()
    function = pytensor.function([x, w], T.nnet.conv2d(x, w, border_mode="half"), mode="FAST_RUN")
    assert abstract_conv.AbstractConv2d in {
        type(node.op) for node in function.maker.fgraph.toposort()
    }
    expected = convolved(IMAGES, FILTERS, border_mode="half")
    np.testing.assert_allclose(function(IMAGES, FILTERS), expected, rtol=1e-9, atol=1e-9)


def test_options_as_theano_keeps_them():
    operator = abstract_conv.AbstractConv2d(
        (2, None, T.constant(7), 6), border_mode=((1, 1), (0, 2)), subsample=[2, 1]
    )
    assert operator.imshp == (2, None, 7, 6) and operator.kshp == (None,) * 4
    assert operator.border_mode == (1, (0, 2))
    assert abstract_conv.AbstractConv2d(border_mode=0).border_mode == "valid"
    assert abstract_conv.AbstractConv2d(unshared=True).kshp == (None,) * 6
    assert pickle.loads(pickle.dumps(operator)) == operator
    general = abstract_conv.AbstractConv(3, border_mode=(1, 2, 3))
    assert (general.convdim, general.subsample) == (3, (1, 1, 1))
    assert isinstance(general.sibling("inputs"), abstract_conv.AbstractConv_gradInputs)
    for kind in (2, 3):
        cls = getattr(abstract_conv, f"AbstractConv{kind}d_gradWeights")
        assert issubclass(cls, abstract_conv.AbstractConv_gradWeights)
        assert issubclass(cls, abstract_conv.BaseAbstractConv)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"imshp": (1, 2, 3)}, ValueError, "imshp should be a tuple of 4"),
        ({"kshp": T.lvector()}, ValueError, "kshp should be a tuple of 4"),
        ({"imshp": (T.lscalar(), 1, 1, 1)}, ValueError, "imshp should be of integers, constants"),
        ({"border_mode": "same"}, ValueError, "AbstractConv2d: invalid border_mode 'same'"),
        ({"subsample": (1, 1, 1)}, ValueError, "invalid subsample"),
        ({"filter_dilation": (0, 1)}, ValueError, "invalid filter_dilation"),
        ({"num_groups": 0}, ValueError, "num_groups of at least 1"),
    ],
    ids=lambda x: str(x)[:30],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        abstract_conv.AbstractConv2d(**options)


def test_wrong_arguments():
    x = T.dtensor4()
    with pytest.raises(ValueError, match="expected a convdim of 2 or 3, got 1"):
        abstract_conv.AbstractConv(1)
    with pytest.raises(NotImplementedError, match="not shared have two dimensions, not 3"):
        abstract_conv.AbstractConv(3, unshared=True)
    with pytest.raises(TypeError, match="expected a vector of integers as shape"):
        abstract_conv.AbstractConv2d_gradInputs()(x, x, T.dvector())
    with pytest.raises(
        ValueError, match="conv2d_grad_wrt_inputs: input_shape: expected the last 2"
    ):
        abstract_conv.conv2d_grad_wrt_inputs(x, x, (1, 1, None, 3))
    with pytest.raises(ValueError, match="conv2d_grad_wrt_weights: filter_shape: expected 4"):
        abstract_conv.conv2d_grad_wrt_weights(x, x, (1, 1, 1, 2, 3))
    with pytest.raises(ValueError, match="causal_conv1d: expected input of 3 dimensions"):
        abstract_conv.causal_conv1d(x, x, (1, 1, 1))
    with pytest.raises(ValueError, match="imshp_logical and kshp_logical are not supported"):
        T.nnet.conv2d(x, x, imshp_logical=(1, 2, 3))
    with pytest.raises(ValueError, match="expected input_shape or image_shape, got both"):
        T.nnet.conv2d(x, x, input_shape=(None,) * 4, image_shape=(None,) * 4)


def test_older_arguments_are_warned_of():
    x = T.dtensor4()
    with pytest.warns(UserWarning, match="image_shape is the older name of input_shape"):
        y = T.nnet.conv2d(x, x, image_shape=(1, None, None, None))
    assert y.owner.op.imshp == (1, None, None, None)
    with pytest.warns(UserWarning, match="version have no effect any more"):
        T.nnet.conv2d(x, x, version=3)


def test_told_shapes_are_checked_if_the_flag_says_so():
    x, w = T.dtensor4(), T.dtensor4()

    def function():
        y = T.nnet.conv2d(x, w, input_shape=(3, 4, 7, 6), filter_shape=(3, 4, 3, None))
        return theano.function([x, w], y)

    assert function()(IMAGES, FILTERS).shape == (2, 3, 5, 5)
    with theano.change_flags({"conv.assert_shape": True}):
        checked = function()
    with pytest.raises(AssertionError, match="image does not match given imshp"):
        checked(IMAGES, FILTERS)
    three = IMAGES[[0, 1, 1]]
    assert checked(three, FILTERS).shape == (3, 3, 5, 5)
    with pytest.raises(AssertionError, match="filters does not match given kshp"):
        checked(three, FILTERS[:2])


def test_dtypes_are_joined():
    x, w = T.ftensor4(), T.dtensor4()
    y = T.nnet.conv2d(x, w)
    images = IMAGES.astype("float32")
    found = theano.function([x, w], y)(images, FILTERS)
    assert found.dtype == y.dtype == "float64"
    np.testing.assert_allclose(found, convolved(images, FILTERS), rtol=1e-9, atol=1e-9)
    n, m = T.ltensor4(), T.btensor4()
    counts = np.arange(25).reshape(1, 1, 5, 5)
    whole = theano.function([n, m], T.nnet.conv2d(n, m))(counts, np.ones((1, 1, 2, 2), "int8"))
    expected = counts[..., :-1, :-1] + counts[..., 1:, :-1] + counts[..., :-1, 1:]
    np.testing.assert_array_equal(whole, expected + counts[..., 1:, 1:])
    assert whole.dtype == "int64"


def test_separable_convolutions():
    depthwise, pointwise = RNG.normal(size=(8, 1, 3, 2)), RNG.normal(size=(5, 8, 1, 1))
    options = {"border_mode": "half", "subsample": (2, 1), "filter_dilation": (1, 2)}
    between = convolved(IMAGES, depthwise, num_groups=4, **options)
    expected = convolved(between, pointwise)
    shapes = {
        "input_shape": IMAGES.shape,
        "depthwise_filter_shape": depthwise.shape,
        "pointwise_filter_shape": pointwise.shape,
    }
    for told in ({}, shapes):
        found = abstract_conv.separable_conv2d(IMAGES, depthwise, pointwise, 4, **told, **options)
        np.testing.assert_allclose(value_of(found), expected, rtol=1e-9, atol=1e-9)
    volumes = IMAGES[:, :, None].repeat(3, 2)
    found = abstract_conv.separable_conv3d(
        volumes, depthwise[:, :, None], pointwise[:, :, None], 4, border_mode=(0, 1, 1)
    )
    between = convolved(IMAGES, depthwise, num_groups=4, border_mode=(1, 1))
    each = convolved(between, pointwise)
    np.testing.assert_allclose(value_of(found), each[:, :, None].repeat(3, 2), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("stride, dilation", [(1, 1), (2, 1), (1, 2)])
def test_causal_convolutions(stride, dilation):
    x, w = RNG.normal(size=(2, 3, 8)), RNG.normal(size=(4, 3, 3))
    found = value_of(
        abstract_conv.causal_conv1d(
            x, w, w.shape, x.shape, subsample=stride, filter_dilation=dilation
        )
    )
    for t in range(0, 8, stride):
        at_t = sum(x[:, :, t - k * dilation] @ w[:, :, k].T for k in range(3) if t >= k * dilation)
        np.testing.assert_allclose(found[:, :, t // stride], at_t, rtol=1e-9, atol=1e-9)


def test_gradients_as_functions():
    x, w = T.dtensor4(), T.dtensor4()
    options = {"border_mode": ((1, 0), 2), "subsample": (2, 1), "filter_dilation": (2, 1)}
    y = T.nnet.conv2d(x, w, **options)
    g = T.ones_like(y)
    outputs = [
        *theano.grad(y.sum(), [x, w]),
        abstract_conv.conv2d_grad_wrt_inputs(g, w, (None, None, x.shape[2], 6), **options),
        abstract_conv.conv2d_grad_wrt_weights(x, g, w.shape, **options),
        T.nnet.conv2d_transpose(
            g,
            w,
            IMAGES.shape,
            border_mode=options["border_mode"],
            input_dilation=options["subsample"],
            filter_dilation=options["filter_dilation"],
        ),
    ]
    by_images, by_filters, *found = theano.function([x, w], outputs)(IMAGES, FILTERS)
    for ours, theirs in zip(found, (by_images, by_filters, by_images), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_shapes_of_convolutions():
    image, filters = (2, 3, 12, 9), (4, 3, 5, 6)
    for mode in ("valid", "full", (1, (2, 0))):
        result = abstract_conv.get_conv_output_shape(image, filters, mode, (1, 1), (2, 1))
        arguments = (mode, (1, 1), (2, 1))
        assert abstract_conv.get_conv_gradinputs_shape(filters, result, *arguments) == image
        assert abstract_conv.get_conv_gradweights_shape(image, result, *arguments) == filters
        assert abstract_conv.check_conv_gradinputs_shape(image, filters, result, *arguments)
        wrong = (*result[:3], result[3] + 1)
        assert not abstract_conv.check_conv_gradinputs_shape(image, filters, wrong, *arguments)
    n = T.lscalar()
    length = abstract_conv.get_conv_shape_1axis(n, 3, "half", 2)
    assert length.eval({n: 9}) == 5
    assert abstract_conv.get_conv_shape_1axis(None, 3, "half", 2) is None
    assert abstract_conv.get_conv_gradinputs_shape(filters, (2, 4, 3, 3), 0, (2, 1)) == (
        2,
        3,
        None,
        8,
    )
    unshared = abstract_conv.get_conv_gradweights_shape(
        image, (2, 4, 8, 4), 0, (1, 1), num_groups=3, unshared=True
    )
    assert unshared == (4, 8, 4, 1, 5, 6)
    with pytest.raises(ValueError, match="border_mode must be >= 0"):
        abstract_conv.get_conv_shape_1axis(5, 3, -1, 1)
    assert abstract_conv.border_mode_to_pad(("half", 1)[1], 2, (3, 3)) == ((1, 1), (1, 1))
    assert abstract_conv.border_mode_to_pad("full", 2, (3, 4)) == ((2, 2), (3, 3))
    with pytest.raises(ValueError, match="border_mode_to_pad: invalid border_mode"):
        abstract_conv.border_mode_to_pad((1, 1, 1), 2, (3, 3))


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"invalid shape \(dim\[2\]: 0 < 1\)"):
        abstract_conv.assert_conv_shape((1, 1, 0, 1))
    lengths = [T.lscalar() for _ in range(3)]
    function = theano.function(lengths, abstract_conv.assert_conv_shape(lengths))
    assert list(map(int, function(0, 0, 1))) == [0, 0, 1]
    with pytest.raises(AssertionError, match=r"dim\[2\] < 1"):
        function(0, 0, 0)


def test_first_convolution():
    operator = conv.ConvOp((4, 7, 6), (3, 2), 3, 2, 2, 1, output_mode="full")
    assert operator.outshp == (5, 7) and operator.fulloutshp == (9, 7)
    assert (operator.nkern, operator.bsize, operator.dx, operator.dy) == (3, 2, 2, 1)
    x, w = T.dtensor4(), T.dtensor4()
    y = operator(x, w)
    function = theano.function([x, w], [y, *theano.grad(y.sum(), [x, w])])
    expected = convolved(IMAGES, FILTERS, border_mode="full", subsample=(2, 1))
    np.testing.assert_allclose(function(IMAGES, FILTERS)[0], expected, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="expected filters of length 3 in dimension 0"):
        function(IMAGES, FILTERS[:2])
    assert conv.ConvOp.getOutputShape((7, 6), (3, 2), (2, 1), "full") == (5, 7)
    with pytest.raises(ValueError, match="there is no window of shape"):
        conv.ConvOp((4, 2, 2), (3, 3))
    with pytest.raises(ValueError, match="expected output_mode 'valid' or 'full'"):
        conv.ConvOp(output_mode="half")
    with pytest.raises(ValueError, match="expected 2 or 3 lengths in imshp"):
        conv.ConvOp((1, 2, 3, 4))
    with pytest.raises(NotImplementedError, match="imshp_logical"):
        conv.ConvOp(imshp_logical=(1, 2, 3))
    with pytest.raises(NotImplementedError, match="images and filters of one dtype"):
        conv.ConvOp()(T.ftensor4(), w)


@pytest.mark.parametrize("border_mode", ["valid", "full", "half", ("half", "valid", "valid")])
def test_convolutions_of_films(border_mode):
    films = RNG.normal(size=(2, 5, 3, 6, 4))
    filters = RNG.normal(size=(4, 2, 3, 3, 2))
    modes = border_mode if isinstance(border_mode, tuple) else (border_mode,) * 3
    sides = {"valid": lambda n: 0, "full": lambda n: n - 1, "half": lambda n: n // 2}
    pads = tuple(sides[m](filters.shape[axis]) for m, axis in zip(modes, (1, 3, 4), strict=True))
    volumes, kernels = films.swapaxes(1, 2), filters.swapaxes(1, 2)
    expected = convolved(volumes, kernels, border_mode=pads).swapaxes(1, 2)
    x, w = T.dtensor5(), T.dtensor5()
    for told in ({}, {"signals_shape": films.shape, "filters_shape": filters.shape}):
        y = conv3d2d.conv3d(x, w, border_mode=border_mode, **told)
        found = theano.function([x, w], y)(films, filters)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    with pytest.raises(NotImplementedError, match="rows and columns must have the same"):
        conv3d2d.conv3d(x, w, border_mode=("valid", "full", "half"))
    with pytest.raises(ValueError, match="conv3d: invalid border_mode 'same'"):
        conv3d2d.conv3d(x, w, border_mode="same")


def test_diagonals():
    x = T.dtensor3()
    values = RNG.normal(size=(5, 2, 3))
    diagonals = conv3d2d.diagonal_subtensor(x, 0, 2)
    expected = np.stack([values[2 - c : 5 - c, :, c] for c in range(3)], axis=2)
    for inplace in (False, True):
        operator = conv3d2d.DiagonalSubtensor(inplace)
        np.testing.assert_array_equal(operator(x, 0, 2).eval({x: values}), expected)
    gradient = theano.grad((diagonals**2).sum(), x).eval({x: values})
    view = conv3d2d.get_diagonal_subtensor_view(gradient, 0, 2)
    np.testing.assert_allclose(view, 2 * expected)
    assert np.count_nonzero(gradient) == expected.size
    theano.gradient.verify_grad(
        lambda x, y: conv3d2d.inc_diagonal_subtensor(x, 0, 2, y), [values, expected], rng=RNG
    )
    with pytest.raises(NotImplementedError, match="expected at least 3 rows"):
        conv3d2d.get_diagonal_subtensor_view(values[:2], 0, 2)


def test_nothing_is_warned_of_in_the_usual_calls():
    x = T.dtensor4()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T.nnet.conv2d(x, x, (1, None, 3, 3), (None,) * 4, "half", (1, 1))
        conv.conv2d(x, x, (1, None, 3, 3))
