"""The structures of ``runtime/function.h`` and ``runtime/tn_function.h``, as Python writes them."""

import ctypes


class Given(ctypes.Structure):
    """An array that a call reads."""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_void_p))


class Made(ctypes.Structure):
    """An array that a call writes."""

    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("shape", ctypes.c_void_p))


class Value(ctypes.Structure):
    """A value of a function: its item size, dimensions and type, and the unit that computes it."""

    _fields_ = (
        ("itemsize", ctypes.c_int64),
        ("ndim", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("made_by", ctypes.c_int32),
    )


class Check(ctypes.Structure):
    """An error message, and of each of two sizes in it an input of the unit and a dimension."""

    _fields_ = (
        ("text", ctypes.c_char_p),
        ("given", ctypes.c_int32 * 2),
        ("dimension", ctypes.c_int32 * 2),
    )


# Whether results are written now, or computed; data and lengths of arrays; a message and its room.
PYTHON = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)),
    ctypes.c_void_p,
    ctypes.c_int64,
)


class Unit(ctypes.Structure):
    """A part of a function."""

    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("given", ctypes.c_void_p),
        ("made", ctypes.c_void_p),
        ("given_count", ctypes.c_int32),
        ("made_count", ctypes.c_int32),
        ("stops_early", ctypes.c_int32),
        ("checks_count", ctypes.c_int32),
        ("errors_count", ctypes.c_int32),
        ("checks", ctypes.c_void_p),
        ("errors", ctypes.c_void_p),
        ("python", ctypes.c_void_p),
    )


class Function(ctypes.Structure):
    """A function, as ``tn_call`` takes it."""

    _fields_ = (
        ("runtime", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("units", ctypes.c_void_p),
        ("bound", ctypes.c_void_p),
        ("results", ctypes.c_void_p),
        ("input_count", ctypes.c_int32),
        ("bound_count", ctypes.c_int32),
        ("value_count", ctypes.c_int32),
        ("unit_count", ctypes.c_int32),
        ("result_count", ctypes.c_int32),
        ("shares", ctypes.c_int32),
    )
