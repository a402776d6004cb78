"""Signals that come at a chosen poll of a native computation, however fast or busy the machine is."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path

from theano.link.native.run import interrupts
from theano.link.native.runtime.build import find_compiler
from theano.link.native.runtime.load import library

SOURCE = Path(__file__).with_name("signal_at_poll.c")
SIGNAL = signal.SIGUSR1


@cache
def _counter() -> ctypes.CDLL:
    """Compile and load the functions that count polls, and have the runtime call them."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "signal_at_poll.so")
        compiler = find_compiler()
        assert compiler is not None
        subprocess.run([*compiler, "-shared", "-fPIC", SOURCE, "-o", made], check=True)
        counter = ctypes.CDLL(str(made))
    counter.polls_counted.restype = ctypes.c_int64
    library().tn_stops_polled.restype = ctypes.c_int64
    interrupts.watch_signals()
    functions = [_address(getattr(ctypes.pythonapi, name)) for name in interrupts._FUNCTIONS]
    functions[interrupts._FUNCTIONS.index("PyErr_CheckSignals")] = _address(counter.check_and_count)
    python = interrupts._Python(*functions, threading.main_thread().ident)
    library().tn_set_python(ctypes.byref(python))
    library().tn_set_patience(ctypes.c_int64(0))
    return counter


def _address(function) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value


def signal_at(poll: int) -> None:
    """Begin to count polls, and raise SIGNAL at one of them; 0: at none."""
    check = ctypes.c_void_p(_address(ctypes.pythonapi.PyErr_CheckSignals))
    _counter().begin_to_count(check, ctypes.c_int64(poll), int(SIGNAL))


def counted() -> int:
    """Return how often the main thread has asked Python since it began to count."""
    return _counter().polls_counted()


def stops_polled() -> int:
    """Return how many polls of all threads have been answered with "stop" in this process."""
    return library().tn_stops_polled()
