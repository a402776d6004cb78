"""Programs compiled in this process, by LLVM: without a C compiler, and without waiting for one."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
from collections.abc import Callable
from weakref import WeakValueDictionary

from theano.configparser import config
from theano.link.native.ir.ir import CannotLower
from theano.link.native.render.program_text import ProgramText
from theano.link.native.runtime.build import find_compiler
from theano.link.native.runtime.load import cache_folder, is_built
from theano.rewriting.disk.sealed_files import read_sealed, write_sealed

_loaded: WeakValueDictionary = WeakValueDictionary()


def has_llvm() -> bool:
    """Return whether LLVM is there."""
    return importlib.util.find_spec("llvmlite") is not None


def chosen_compiler() -> str | None:
    """Return what compiles programs, 'cc' or 'llvm', as the flag says and as is there; none if nothing is."""
    asked = config.native.compiler
    if asked != "llvm" and find_compiler() is not None:
        return "cc"
    is_possible = asked != "cc" and has_llvm() and (is_built() or find_compiler() is not None)
    return "llvm" if is_possible else None


def why_no_compiler() -> str:
    """Return why nothing compiles programs; empty where something does."""
    if chosen_compiler() is not None:
        return ""
    if config.native.compiler == "llvm" and not has_llvm():
        return "LLVM was not found (install llvmlite)"
    return "No C compiler was found (install gcc or clang, or: pip install ziglang)"


def library_in_process(
    code: ProgramText, meanwhile: Callable[[], None] = lambda: None, quick: bool = False
):
    """Return a program's functions, compiled by LLVM unless the cache holds them.

    Parameters
    ----------
    meanwhile
        What there is to do before the program can be called.
    quick
        Whether the program is to be there soon, and not to run fast.

    Raises
    ------
    CannotLower
        When a text is not what the translation to LLVM knows, or LLVM is not there.
    """
    from theano.link.native.llvm.machine import JitLibrary
    from theano.link.native.llvm.prelude import prelude

    before = prelude()
    identity = f"{before.identity} {quick} {code.own_text}"
    key = hashlib.sha256(identity.encode()).hexdigest()[:32]
    library = _loaded.get(key)
    if library is None:
        name = f"program-{key}.llvm"
        kept = read_sealed(cache_folder() / name)
        content = kept or _compiled(code.own_text, quick)
        exported, called, machine_code = content.split(b"\n", 2)
        library = JitLibrary(machine_code, exported.decode().split(), called.decode().split())
        _loaded[key] = library
        if kept is None:
            # where nothing can be kept, another process compiles it again
            with contextlib.suppress(OSError):
                write_sealed(cache_folder(), name, content)
    meanwhile()
    return library


def _compiled(text: str, quick: bool) -> bytes:
    """Return a line with what others may ask for, one with what is called, and the machine code."""
    from theano.link.native.llvm.machine import machine_code
    from theano.link.native.llvm.prelude import module_of

    module = module_of(text)
    try:
        code = machine_code(module.text, module.has_loops_to_vectorize, quick)
    except RuntimeError as error:
        raise CannotLower(f"what LLVM refuses: {error}") from error
    names = f"{' '.join(module.exported)}\n{' '.join(module.called)}\n"
    return names.encode() + code
