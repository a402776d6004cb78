"""Ctrl-C during a long loop or product: they ask Python now and then whether a signal came.

A loop that was stopped returns ``header.INTERRUPTED``, a product that was stopped leaves a mark; whoever called
it then calls ``raise_pending``.
"""

from __future__ import annotations

import ctypes
import os
import threading
from functools import cache

from theano.link.native.runtime.load import library

_FUNCTIONS = ("PyGILState_Ensure", "PyGILState_Release", "PyErr_CheckSignals", "PyErr_Fetch")


class _Python(ctypes.Structure):
    """``struct tn_python`` of runtime.h."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in _FUNCTIONS),
        ("main_thread", ctypes.c_size_t),
    ]


@cache
def watch_signals() -> None:
    """Register with the runtime, once, how to ask Python."""
    addresses = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in _FUNCTIONS
    ]
    python = _Python(*addresses, threading.main_thread().ident)
    library().tn_set_python(ctypes.byref(python))


def stopping() -> ctypes.c_int32:
    """Return whether a signal ended a product of the main thread, as a number that the runtime keeps."""
    return ctypes.c_int32.in_dll(library(), "tn_stopping")


def is_main_thread() -> bool:
    """Return whether this thread handles signals."""
    return threading.get_ident() == threading.main_thread().ident


def _watch_in_child() -> None:
    """After a fork the thread that forked is the main one."""
    if watch_signals.cache_info().currsize:
        watch_signals.cache_clear()
        watch_signals()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watch_in_child)


def raise_pending() -> None:
    """Raise what a signal's handler raised while a loop ran.

    Raises
    ------
    KeyboardInterrupt
        Or whatever else the handler raised.
    """
    exception = (ctypes.c_void_p * 3)()
    library().tn_take_interrupt(exception)
    kind = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)
    restore = kind(("PyErr_Restore", ctypes.pythonapi))
    # ctypes raises what it finds set after the call.
    restore(*exception)
