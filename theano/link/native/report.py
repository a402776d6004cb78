"""What the engine did with the loops of a compiled function."""

from __future__ import annotations

from typing import Any

from theano.link.native.linker import LoopRecord, NativeLinker


def report(function: Any) -> list[LoopRecord]:
    """Each loop of a function compiled with the engine: native, or why not.

    Parameters
    ----------
    function
        What ``theano.function`` or ``pytensor.function`` returned.

    Returns
    -------
    list of LoopRecord

    Raises
    ------
    TypeError
        When the function was compiled with another engine.
    """
    linker = function.maker.linker
    if not isinstance(linker, NativeLinker):
        raise TypeError(f"the function was compiled with {linker}, not with the native engine")
    return list(linker.records)


def source(function: Any) -> str:
    """The C text of all native loops of a function."""
    return "\n".join(record.source for record in report(function) if record.source)
