"""Linkers by name: which engine runs a graph is chosen here only."""

import importlib
import os
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from theano.configdefaults import OLD_LINKERS, config
from theano.configparser import caller_stacklevel
from theano.pytensor_internals.functions.c_code import CLinker, OpWiseCLinker
from theano.pytensor_internals.functions.linking import Linker, PerformLinker, VMLinker
from theano.pytensor_internals.functions.python_machine import PythonVMLinker
from theano.support.formatting.nearest_name import did_you_mean

__all__ = ["make_linker", "no_warning_yet", "predefined_linkers", "register_linker", "unknown_name"]

predefined_linkers: dict[str, Callable[[], Linker]] = {
    "py": PerformLinker,
    "native": lambda: _native_linker(),
    "xla": lambda: _xla_linker(),
    # what Theano called its fast ones
    **{name: partial(lambda gc: _engine(gc), gc) for name, gc in OLD_LINKERS.items()},
    # PyTensor's, which run the graph one operation after the other
    "pytensor_c": CLinker,
    "pytensor_c|py": OpWiseCLinker,
    "pytensor_c|py_nogc": lambda: OpWiseCLinker(allow_gc=False),
    "pytensor_vm": lambda: PythonVMLinker(c_thunks=not _why_no_compiler()),
    "pytensor_vm_nogc": lambda: PythonVMLinker(allow_gc=False, c_thunks=not _why_no_compiler()),
    "pytensor_cvm": lambda: VMLinker(use_cloop=True),
    "pytensor_cvm_nogc": lambda: VMLinker(use_cloop=True, allow_gc=False),
}

_WITHOUT_COMPILER = {
    "pytensor_c": "py",
    "pytensor_c|py": "py",
    "pytensor_c|py_nogc": "py",
    "pytensor_cvm": "pytensor_vm",
    "pytensor_cvm_nogc": "pytensor_vm_nogc",
}
_warned_of_no_compiler: set[str] = set()


def _engine(allow_gc: bool | None) -> Linker:
    """Return this package's engine: that of devices where the flags ask for one."""
    return _xla_linker() if config.linker == "xla" else _native_linker(allow_gc)


def _native_linker(allow_gc: bool | None = None) -> Linker:
    # Imported when first used: the engine needs the runtime that it builds.
    return importlib.import_module("theano.link.native").NativeLinker(
        allow_gc=allow_gc, c_thunks=not _why_no_compiler()
    )


def _xla_linker() -> Linker:
    # Imported when first used: it needs JAX, which is optional.
    return importlib.import_module("theano.link.xla").XLALinker()


def make_linker(name: str) -> Linker:
    """Return a new linker of that name: the one place that chooses the engine.

    Where C++ cannot be compiled, the Python linker of the same kind takes its place, with one
    warning.
    """
    reason, instead = "", _WITHOUT_COMPILER.get(name, name)
    if name == "native" or (name in OLD_LINKERS and config.linker != "xla"):
        # It is its own substitute: without a compiler it has NumPy run the operations.
        reason = _why_not_native()
    elif instead != name:
        reason = _why_no_compiler()
    if reason:
        _warn_of_no_compiler(reason, name, instead)
        name = instead
    if name not in predefined_linkers:
        raise unknown_name("linker", name, predefined_linkers)
    return predefined_linkers[name]()


@contextmanager
def no_warning_yet() -> Iterator[None]:
    """Leave the warning of a missing compiler to the first linker that a user asks for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    _warned_of_no_compiler.clear()


def _warn_of_no_compiler(reason: str, name: str, instead: str) -> None:
    if _warned_of_no_compiler:
        return
    _warned_of_no_compiler.add(name)
    what = "Python runs" if instead == name else f"the Python linker {instead!r} runs"
    warnings.warn(
        f"{reason}: {what} in place of {name!r}, slower",
        stacklevel=caller_stacklevel(),
    )


def _why_not_native() -> str:
    return importlib.import_module("theano.link.native.build.in_process").why_no_compiler()


def _why_no_compiler() -> str:
    if not config.cxx:
        return "No C++ compiler was found (install g++ or clang++, or set the flag cxx)"
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    if not os.path.exists(header):
        return f"Python's C headers are missing (install python3-dev; looked for {header})"
    return ""


def register_linker(name: str, linker: Linker) -> None:
    """Give a linker a name that `Mode` accepts; a taken name is a ValueError."""
    if name in predefined_linkers:
        raise ValueError(f"Linker name already taken: {name}")
    predefined_linkers[name] = lambda: linker


class UnknownNameError(ValueError, KeyError):
    """No linker or optimizer has the name; a KeyError as in Theano, a ValueError as in PyTensor."""

    # that of KeyError quotes the message
    __str__ = ValueError.__str__


def unknown_name(what: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """Return the error that no linker, mode or optimizer of that name exists."""
    known = list(dict.fromkeys(known))
    return UnknownNameError(
        f"No predefined {what} exists for {name!r}: there are {', '.join(known)}"
        f"{did_you_mean(str(name), known)}"
    )
