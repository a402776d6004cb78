"""The structures of ``runtime/function.h``, ``tn_function.h`` and ``prepared_call.h``, as Python writes them."""

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


class Expected(ctypes.Structure):
    """The kind of an array that is expected: ``tn_expected`` of ``runtime/shared.inc``."""

    _fields_ = tuple(
        (name, ctypes.c_int) for name in ("ndim", "number", "other", "itemsize", "order")
    )


class PreparedInput(ctypes.Structure):
    """A value that a prepared call reads."""

    _fields_ = (
        ("argument", ctypes.c_int32),
        ("position", ctypes.c_int32),
        ("expected", Expected),
        ("shape", ctypes.c_void_p),
        ("list", ctypes.c_void_p),
        ("number", ctypes.c_void_p),
    )


class PreparedUpdate(ctypes.Structure):
    """A shared variable that a prepared call gives a new value."""

    _fields_ = (("list", ctypes.c_void_p), ("made", ctypes.c_int64))


class Prepared(ctypes.Structure):
    """A prepared call, as ``tn_call_prepared`` of ``runtime/prepared_call.c`` takes it."""

    _fields_ = (
        ("python", ctypes.c_void_p),
        ("entry", ctypes.c_void_p),
        ("runtime", ctypes.c_void_p),
        ("work", ctypes.c_void_p),
        ("room", ctypes.c_int64),
        ("report", ctypes.c_void_p),
        ("lengths_made", ctypes.c_void_p),
        ("inputs", ctypes.c_void_p),
        ("items", ctypes.c_void_p),
        ("kept", ctypes.c_void_p),
        ("room_for", ctypes.c_void_p),
        ("results", ctypes.c_void_p),
        ("updates", ctypes.c_void_p),
        ("overwritten", ctypes.c_void_p),
        ("lengths", ctypes.c_void_p),
        ("left", ctypes.c_int64),
        ("argument_count", ctypes.c_int32),
        ("input_count", ctypes.c_int32),
        ("given_count", ctypes.c_int32),
        ("made_count", ctypes.c_int32),
        ("result_count", ctypes.c_int32),
        ("update_count", ctypes.c_int32),
        ("length_count", ctypes.c_int32),
        ("busy", ctypes.c_int32),
    )


# functions of Python's C interface, and objects
_OF_INTERPRETER = (
    *("save_thread", "restore_thread", "increment", "decrement", "call", "new_list", "set_item"),
    *("real", "integer", "not_implemented", "array_type", "float_type", "numpy_float_type"),
    *("integer_type", "make_array"),
)


class Interpreter(ctypes.Structure):
    """Functions and objects of Python that a prepared call uses."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in _OF_INTERPRETER)


class Method(ctypes.Structure):
    """Python's ``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )
