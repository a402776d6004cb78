"""Functions of tensors, by operators on our own numbers that PyTensor 3.3 computes by several."""

from __future__ import annotations

from pytensor.tensor.elemwise import Elemwise

from theano.pytensor_internals.since_3_3 import scalars

angle = Elemwise(scalars.angle)
complex_from_polar = Elemwise(scalars.complex_from_polar)
deg2rad = Elemwise(scalars.deg2rad)
gammal = Elemwise(scalars.gammal)
gammau = Elemwise(scalars.gammau)
rad2deg = Elemwise(scalars.rad2deg)
