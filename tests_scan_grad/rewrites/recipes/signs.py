"""Signs and absolute values, also of what is known to be positive."""

import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import Maker, recipe

FAMILY = "signs and absolute values"
TYPES = ("float64", "float32", "int8", "int64", "uint8", "complex64", "complex128")


@recipe(
    FAMILY,
    "local_useless_abs",
    "local_useless_sign",
    "local_sign_prod",
    "local_sign_unit",
    "local_abs_mul_unit",
)
def signs_of_what_has_one(m: Maker):
    x = m.array(2, TYPES)
    y = m.beside(x)
    wide = m.array(2, "float64", among=lambda shape: m.rng.choice([-800.0, 0.0, 1.0, 800.0], shape))
    return m.one_of(
        lambda: abs(abs(x)),
        lambda: abs(pt.sqr(x)),
        lambda: abs(pt.exp(wide)),
        lambda: abs(pt.sign(x) * y),
        lambda: abs(y * pt.sign(x) * 2),
        lambda: pt.sign(pt.exp(wide)),
        lambda: pt.sign(pt.sqr(x)),
        lambda: pt.sign(pt.prod(x, axis=m.one_of(None, 0, 1))),
        lambda: pt.sign(pt.prod(wide, axis=m.one_of(0, 1), keepdims=True)),
        lambda: pt.sign(pt.sqrt(pt.sqr(wide))),
        lambda: pt.sign(pt.sign(x) * y),
        lambda: pt.sign(pt.sign(x)),
        lambda: pt.sign(pt.cosh(wide)) + abs(pt.cosh(wide)),
        lambda: pt.sign(pt.sigmoid(wide)),
        lambda: pt.sign(pt.exp(wide) * 1e-300),
        lambda: pt.sign(wide + 3) * abs(pt.ones_like(wide) * 2),
    )()
