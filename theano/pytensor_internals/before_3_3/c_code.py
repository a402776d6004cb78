"""Operators that have C only, of which PyTensor 3.0 has a second kind."""

from pytensor.link.c.op import _NoPythonCOp, _NoPythonExternalCOp

C_ONLY: tuple[type, ...] = (_NoPythonCOp, _NoPythonExternalCOp)
