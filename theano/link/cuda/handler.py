"""The handler by which programs of XLA launch kernels: C against the headers that jaxlib ships.

It is compiled once for a version of them, and registered with JAX under the name `TARGET`.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from theano.link.cuda.kernel import Kernel
from theano.link.cuda.refusals import NoKernel
from theano.link.native.build import compiler
from theano.link.native.ir.ir import CannotLower
from theano.link.native.runtime.build import SUFFIX
from theano.link.native.runtime.load import (
    cache_folder,
    in_cache_or_elsewhere,
    load_and_keep,
    open_library,
)
from theano.rewriting.disk.sealed_files import is_sealed

TARGET = "theano_loop"
# CUDA's driver, as the system's loader finds it
DRIVER = "libcuda.so.1"
# the counters of a kernel's barriers are the beginning of its memory: as in launch.c
BARRIER_BYTES = 256
_MESSAGE_BYTES = 500
_SOURCE = Path(__file__).with_name("included") / "launch.c"


class CannotLaunch(NoKernel):
    """A loop has a kernel, which this machine cannot run; the text says why."""


def key_of(code: bytes) -> str:
    """Return the name under which a kernel's code is loaded once."""
    return hashlib.sha256(code).hexdigest()


def expect_resident(kernel: Kernel, code: bytes, device: int) -> None:
    """Load a kernel's code on a device, and see whether all of its blocks fit there at once.

    Raises
    ------
    CannotLaunch
        If they do not, or the driver refuses.
    """
    message = ctypes.create_string_buffer(_MESSAGE_BYTES)
    count = library().tl_resident_blocks(
        ctypes.c_int(device),
        key_of(code).encode(),
        code,
        kernel.name.encode(),
        ctypes.c_int(kernel.lanes),
        ctypes.c_int(kernel.own_bytes),
        message,
    )
    if count < 0:
        raise CannotLaunch(message.value.decode(errors="replace"))
    if count < kernel.blocks:
        raise CannotLaunch(f"{kernel.blocks} blocks, of which {count} fit on the device at once")


def called(
    kernel: Kernel, code: bytes, arrays: Sequence[Any], traces: Sequence[Any], steps: int
) -> tuple[list[Any], Any]:
    """Return what a kernel makes of arrays of JAX: what it writes, then how many steps it made and its status.

    Parameters
    ----------
    arrays
        Those of the kernel's arguments that are no traces, in their order.
    traces
        Shape and dtype of each trace.
    steps
        How many it is to make, at most.
    """
    import jax

    register()
    given, made = iter(enumerate(arrays)), iter(traces)
    places: list[int] = []
    rows: list[int] = []
    results: list[Any] = []
    aliases: dict[int, int] = {}
    for argument in kernel.arguments:
        place, array = (-1, next(made)) if argument.kind == "trace" else next(given)
        if argument.kind in ("trace", "mit_mot", "ring", "untraced"):
            if place >= 0:
                aliases[place] = len(results)
            place = -1 - len(results)
            results.append(jax.ShapeDtypeStruct(array.shape, array.dtype))
        places.append(place)
        rows.append(array.shape[0] if array.shape and argument.kind != "untraced" else 1)
    memory = [
        jax.ShapeDtypeStruct((BARRIER_BYTES + kernel.work_bytes,), np.uint8),
        jax.ShapeDtypeStruct((2,), np.int64),
    ]
    call = jax.ffi.ffi_call(TARGET, [*results, *memory], input_output_aliases=aliases)
    *written, _, status = call(
        *arrays,
        code=np.frombuffer(code, np.int8),
        key=key_of(code),
        launch=np.array([kernel.blocks, kernel.lanes, max(kernel.own_bytes, 1), steps], np.int64),
        name=kernel.name,
        places=np.array(places, np.int64),
        rows=np.array(rows, np.int64),
    )
    return written, status


@cache
def register() -> None:
    """Register the handler with JAX, once; a host runs what stands in for a device."""
    import jax

    target = jax.ffi.pycapsule(library().tl_loop)
    for platform in ("CUDA", "cpu"):
        jax.ffi.register_ffi_target(TARGET, target, platform=platform)


@cache
def library() -> ctypes.CDLL:
    """Return the handler's library, compiled unless the cache has it.

    Raises
    ------
    CannotLaunch
        If there is no C compiler, or it fails.
    """
    import jax

    text = _SOURCE.read_text(encoding="utf-8")
    flags = ("-std=c11", "-O2", "-fPIC", f"-I{jax.ffi.include_dir()}", f'-DTL_DRIVER="{DRIVER}"')
    try:
        identity = compiler.name_of(f"{text}\n{_headers(jax.ffi.include_dir())}", flags)
        mark, name = f"tl_made_{identity}", f"launch-{identity}{SUFFIX}"
        kept = cache_folder() / name
        loaded = open_library(kept, mark) if is_sealed(kept) else None
        if loaded is None:
            marked = f"{text}\nconst char {mark} = 0;\n"
            loaded = in_cache_or_elsewhere(
                cache_folder(), lambda folder: _compiled(folder, name, flags, marked, mark)
            )
    except (CannotLower, OSError) as reason:
        raise CannotLaunch(f"a C compiler has to make what launches it: {reason}") from None
    loaded.tl_resident_blocks.restype = ctypes.c_int64
    return loaded


def _headers(folder: str) -> str:
    """Return the text of the interface that the handler is compiled against."""
    return (Path(folder) / "xla" / "ffi" / "api" / "c_api.h").read_text(encoding="utf-8")


def _compiled(folder: Path, name: str, flags: Sequence[str], text: str, mark: str) -> ctypes.CDLL:
    run = compiler.run(folder, name, flags, text)
    try:
        run.finish()
        loaded = load_and_keep(run.made, folder, lambda path: open_library(path, mark))
    finally:
        run.stop()
    if loaded is None:
        raise CannotLower("anything, because what the C compiler made cannot be loaded")
    return loaded
