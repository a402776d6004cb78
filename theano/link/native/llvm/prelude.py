"""The macros and definitions before programs, prepared once and kept on disk."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from pathlib import Path
from typing import Any

from theano.link.native.llvm.builtins import is_builtin
from theano.link.native.llvm.machine import Processor, llvm, processor
from theano.link.native.llvm.preprocessor import Macro, Preprocessor
from theano.link.native.llvm.translation import Definitions, Module, definitions_in, module
from theano.link.native.render.c_text import all_preambles
from theano.link.native.runtime.load import cache_folder
from theano.rewriting.disk import admitted
from theano.rewriting.disk.sealed_files import read_sealed, write_sealed
from theano.support.data_classes import dataclass

# what compilers define
_PREDEFINED = {
    "__INT32_TYPE__": "int",
    "__INT64_TYPE__": "long long",
    "__UINT64_TYPE__": "unsigned long long",
    "__UINTPTR_TYPE__": "unsigned long long",
    "__INTPTR_TYPE__": "long long",
    "__INT64_MAX__": "0x7fffffffffffffffll",
    "__has_builtin": "",
    "__OPTIMIZE__": "1",
    # of GCC's and clang's C it is clang's
    "__GNUC__": "4",
    "__clang__": "1",
    "TN_LLVM": "1",
}


@dataclass(frozen=True)
class Prelude:
    """The macros and definitions that a program may use.

    Attributes
    ----------
    macros, definitions
        By name.
    identity
        What distinguishes it from what stood before programs in another version.
    """

    macros: dict[str, Macro]
    definitions: Definitions
    identity: str


@functools.cache
def prelude() -> Prelude:
    """Return what stands before programs, from disk where it was prepared before."""
    text, host = all_preambles(), processor()
    about = f"{_translator()} {llvm().llvm_version_info} {host} {text}"
    identity = hashlib.sha256(about.encode()).hexdigest()[:32]
    name = f"prelude-{identity}.pickle"
    content = read_sealed(cache_folder() / name)
    if content is None:
        prepared = _prepared(text, host)
        # where nothing can be kept, the next process prepares it again
        with contextlib.suppress(OSError):
            write_sealed(cache_folder(), name, admitted.written(prepared))
    else:
        prepared = admitted.read(content)
    macros, definitions = prepared
    return Prelude(
        {
            name: Macro(name, parameters, variadic, tuple(body.split("\n")) if body else ())
            for name, (parameters, variadic, body) in macros.items()
        },
        Definitions(definitions),
        identity,
    )


def _translator() -> str:
    """Return the text of this package: who changes it keeps nothing that it made before."""
    return "".join(
        path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))
    )


def module_of(text: str) -> Module:
    """Return the module of a program, of which this is what does not stand before all."""
    before = prelude()
    tokens = Preprocessor(before.macros, is_builtin).tokens(text)
    definitions = Definitions(definitions_in(tokens), before.definitions)
    return module(definitions, definitions.exported())


def _prepared(text: str, host: Processor) -> Any:
    """Return macros and definitions as they are kept, in plain values."""
    preprocessor = Preprocessor({}, is_builtin)
    for name, body in _PREDEFINED.items():
        preprocessor.define(name, body)
    preprocessor.define("TN_VECTOR_BYTES", str(host.vector_bytes))
    if host.has_avx512:
        preprocessor.define("TN_SCALES")
    if host.fuses:
        preprocessor.define("__FMA__")
    definitions = definitions_in(preprocessor.tokens(text))
    return (
        {
            macro.name: (macro.parameters, macro.variadic, "\n".join(macro.body))
            for macro in preprocessor.macros.values()
        },
        {name: "\n".join(tokens) for name, tokens in definitions.items()},
    )
