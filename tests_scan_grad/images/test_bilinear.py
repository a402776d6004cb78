"""Images that are enlarged have the pixels that Theano 1.0.5 gave them."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.nnet import abstract_conv

# ratio -> where the rows that were made from 4 lie among them, by Theano 1.0.5
PLACES = {
    (2, 1): [0, 0.5, 1, 1.5, 2, 2.5, 3, 3],
    (3, 1): [0, 0, 1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2, 7 / 3, 8 / 3, 3, 3],
    (4, 1): [0, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3, 3],
    (3, 2): [0, 1 / 3, 1, 5 / 3, 7 / 3, 3],
    (5, 4): [0, 0.4, 1.2, 2, 2.8],
}
IMAGE = np.random.default_rng(0).uniform(size=(2, 3, 4, 5))


def interpolated(image, places, axis):
    return np.apply_along_axis(lambda line: np.interp(places, range(len(line)), line), axis, image)


@pytest.mark.parametrize("ratio", PLACES)
def test_new_rows_and_columns(ratio):
    x = T.dtensor4("x")
    images = abstract_conv.frac_bilinear_upsampling(x, (ratio, (6, 6)))
    expected = interpolated(IMAGE, PLACES[ratio], 2)
    np.testing.assert_allclose(images.eval({x: IMAGE}), expected, rtol=1e-12)
    turned = abstract_conv.bilinear_upsampling(
        x.swapaxes(2, 3), frac_ratio=((1, 1), ratio), use_1D_kernel=False
    )
    np.testing.assert_allclose(turned.eval({x: IMAGE}), expected.swapaxes(2, 3), rtol=1e-12)
    if ratio[1] == 1:
        both = abstract_conv.bilinear_upsampling(x, ratio=ratio[0], num_input_channels=3)
        found = both.eval({x: IMAGE})
        assert found.shape == (2, 3, 4 * ratio[0], 5 * ratio[0])
        np.testing.assert_allclose(found[:, :, :, -1], expected[:, :, :, -1], rtol=1e-12)


def test_gradients_and_dtypes():
    theano.gradient.verify_grad(
        lambda x: abstract_conv.bilinear_upsampling(x, ratio=3), [IMAGE], rng=np.random
    )
    assert abstract_conv.bilinear_upsampling(T.ftensor4(), ratio=2).dtype == "float32"


def test_kernels():
    for ratio, rising in {1: [1.0], 2: [1, 2, 1], 3: [1, 2, 3, 2, 1]}.items():
        plain = abstract_conv.bilinear_kernel_1D(ratio, normalize=False).eval()
        np.testing.assert_array_equal(plain, rising)
        square = abstract_conv.bilinear_kernel_2D(ratio).eval()
        np.testing.assert_allclose(square, np.outer(rising, rising) / ratio**2, rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ratio": 2, "frac_ratio": (3, 2)},
        {"ratio": 1.5},
        {"ratio": 0},
        {"frac_ratio": (3, 2)},
        {"frac_ratio": (3, 2, 1), "use_1D_kernel": False},
        {"frac_ratio": 3, "use_1D_kernel": False},
    ],
)
def test_ratios_that_are_not_right(options):
    with pytest.raises(ValueError, match="bilinear_upsampling: "):
        abstract_conv.bilinear_upsampling(T.dtensor4(), **options)
