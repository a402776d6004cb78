"""Functions of numbers that PyTensor 3.3 computes by several others."""

from __future__ import annotations

import numpy as np
from pytensor.configdefaults import config
from pytensor.gradient import grad_not_implemented
from pytensor.scalar.basic import (
    BinaryScalarOp,
    Complex,
    UnaryScalarOp,
    complex_types,
    constant,
    cos,
    discrete_types,
    exp,
    float64,
    imag,
    real,
    sin,
    specific_out,
    upgrade_to_float,
)
from pytensor.scalar.basic import complex as complex_of
from pytensor.utils import lazy_scipy_module

# half of the time that it takes to import the rest
special = lazy_scipy_module("special")


class _Multiple(UnaryScalarOp):
    """A number times the constant `factor`, by NumPy's function of that name."""

    factor: float

    def impl(self, x):
        # NumPy computes with half precision what is shorter than 16 bits
        short = str(getattr(x, "dtype", "")) in ("int8", "uint8")
        return getattr(np, self.nfunc_spec[0])(x, dtype=np.float32 if short else None)

    def pullback(self, inputs, outputs, cotangents):
        (x,), (cotangent,) = inputs, cotangents
        if x.type in discrete_types:
            return [x.zeros_like(dtype=config.floatX)]
        return [cotangent * constant(self.factor, dtype=cotangent.type.dtype)]

    def c_code(self, node, name, inputs, outputs, sub):
        if node.inputs[0].type in complex_types:
            raise NotImplementedError(f"{self}: complex numbers")
        return f"{outputs[0]} = {inputs[0]} * {self.factor!r};"


class Deg2Rad(_Multiple):
    """An angle in degrees, in radians."""

    nfunc_spec = ("deg2rad", 1, 1)
    factor = float(np.pi / 180)


class Rad2Deg(_Multiple):
    """An angle in radians, in degrees."""

    nfunc_spec = ("rad2deg", 1, 1)
    factor = float(180 / np.pi)


class _InPython:
    """No C of this function."""

    def c_code(self, node, name, inputs, outputs, sub):
        raise NotImplementedError(f"{self}: C code")


class Angle(_InPython, UnaryScalarOp):
    """The angle of a complex number, in radians."""

    nfunc_spec = ("angle", 1, 1)

    def impl(self, x):
        return np.angle(x)

    def pullback(self, inputs, outputs, cotangents):
        (z,), (cotangent,) = inputs, cotangents
        if z.type not in complex_types:
            return [z.zeros_like(dtype=config.floatX)]
        x, y = real(z), imag(z)
        scaled = cotangent / (x * x + y * y)
        return [complex_of(-scaled * y, scaled * x)]


class ComplexFromPolar(_InPython, BinaryScalarOp):
    """The complex number of a magnitude and an angle in radians."""

    nfunc_spec = None

    @staticmethod
    def output_types_preference(magnitude, angle):
        return Complex.output_types_preference(magnitude, angle)

    def impl(self, r, theta):
        if r < 0:
            raise ValueError(f"complex_from_polar: the magnitude must not be negative, got {r}")
        x, y = r * np.cos(theta), r * np.sin(theta)
        kind = np.complex64 if x.dtype == "float32" else np.complex128
        return kind(complex(x, y))

    def pullback(self, inputs, outputs, cotangents):
        (magnitude, angle), (cotangent,) = inputs, cotangents
        x, y = real(cotangent), imag(cotangent)
        along, across = cos(angle), sin(angle)
        return [x * along + y * across, magnitude * (y * along - x * across)]


class _GammaPart(_InPython, BinaryScalarOp):
    """A part of the integral of t**(k-1) * exp(-t), which begins or ends at x."""

    nfunc_spec = None
    sign: int

    def pullback(self, inputs, outputs, cotangents):
        (k, x), (cotangent,) = inputs, cotangents
        return [
            grad_not_implemented(self, 0, k),
            self.sign * cotangent * x ** (k - constant(1, dtype="int8")) * exp(-x),
        ]


class GammaL(_GammaPart):
    """The integral from 0 to x."""

    sign = 1

    def impl(self, k, x):
        return special.gammainc(k, x) * special.gamma(k)


class GammaU(_GammaPart):
    """The integral from x upwards."""

    sign = -1

    def impl(self, k, x):
        return special.gammaincc(k, x) * special.gamma(k)


deg2rad = Deg2Rad(upgrade_to_float, name="deg2rad")
rad2deg = Rad2Deg(upgrade_to_float, name="rad2deg")
angle = Angle(specific_out(float64), name="angle")
complex_from_polar = ComplexFromPolar(name="complex_from_polar")
gammal = GammaL(upgrade_to_float, name="gammal")
gammau = GammaU(upgrade_to_float, name="gammau")
