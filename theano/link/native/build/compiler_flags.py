"""Flags of the C compiler: those that programs need, and those that not every compiler knows."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Sequence

from theano.link.native.runtime.build import OPTIONAL_FLAGS, Command, accepted_flags
from theano.link.native.runtime.load import cache_folder
from theano.rewriting.disk.sealed_files import read_sealed, write_sealed

# A compiler is asked once which of these it takes. What results depend on is not among them.
OPTIONAL = (
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
    "-finline-small-functions",
    "-fno-trapping-math",
    # the assembler reads what the compiler writes while it writes it
    "-pipe",
    *OPTIONAL_FLAGS,
)
FLAGS = (
    "-std=gnu11",
    "-march=native",
    "-fno-math-errno",
    # what is fused is said in the text: the bits of a result do not depend on what is optimized
    "-ffp-contract=off",
    "-fPIC",
    *(flag for flag in OPTIONAL if flag != "-finline-small-functions"),
)


def without_unknown(flags: Sequence[str], command: Command, version: str) -> list[str]:
    """Return flags without those that a compiler does not know."""
    unknown = set(OPTIONAL) - set(_known_optional(command, version))
    return [flag for flag in flags if flag not in unknown]


@functools.cache
def _known_optional(command: Command, version: str) -> tuple[str, ...]:
    """Return the optional flags that a compiler knows, which are kept on disk."""
    identity = "\0".join((*command, version, *OPTIONAL))
    folder = cache_folder()
    name = f"flags-{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
    kept = read_sealed(folder / name)
    if kept is not None:
        return tuple(kept.decode().split())
    known = accepted_flags(command, OPTIONAL)
    if known is None:
        # the run that needs it reports what is wrong
        return OPTIONAL
    # where it cannot be written, the next process asks again
    with contextlib.suppress(OSError):
        write_sealed(folder, name, " ".join(known).encode())
    return known
