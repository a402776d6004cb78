"""C texts compiled by LLVM and by the C compiler, called alike."""

from __future__ import annotations

import ctypes
import shlex
import subprocess
from pathlib import Path

import pytest

from theano.link.native.build.compiler import command_of
from theano.link.native.build.compiler_flags import FLAGS
from theano.link.native.build.loaded import address_in
from theano.link.native.llvm.machine import JitLibrary, machine_code
from theano.link.native.llvm.prelude import module_of
from theano.link.native.render.c_text import all_preambles
from theano.link.native.runtime.build import find_compiler

NUMBERS = {
    "int8_t": ctypes.c_int8,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


def by_llvm(text: str) -> JitLibrary:
    """Return a text's functions."""
    module = module_of(text)
    return JitLibrary(machine_code(module.text, vectorize=True), module.exported, module.called)


def by_c(text: str, folder: Path) -> ctypes.CDLL:
    """Return the same, with what stands before programs."""
    if find_compiler() is None:
        pytest.skip("no C compiler")
    source, made = folder / "text.c", folder / "made.so"
    source.write_text(f"{all_preambles()}\n{text}")
    flags = ["-O2", "-w", "-shared", str(source), "-o", str(made), "-lm"]
    arguments = [*command_of(FLAGS), *flags]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{shlex.join(arguments)}\n{done.stderr}"
    return ctypes.CDLL(str(made))


def function(library, name: str, returns: type | None, *parameters: type):
    """Return a function of a library, which it keeps."""
    found = ctypes.CFUNCTYPE(returns, *parameters)(address_in(library, name))
    found.library = library
    return found
