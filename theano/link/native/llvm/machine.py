"""LLVM itself, by llvmlite: what the processor has, and machine code of modules."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import itertools
import platform
from collections.abc import Iterable
from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Processor:
    """A processor that code is written for.

    Attributes
    ----------
    fuses
        Whether it has fused multiply-adds.
    has_avx512
        Whether it has those instructions on 64 bytes that `builtins.py` knows.
    """

    name: str
    features: str
    vector_bytes: int
    fuses: bool
    has_avx512: bool


@functools.cache
def llvm() -> Any:
    """Return llvmlite's binding, ready to be used."""
    import llvmlite.binding  # type: ignore[import-untyped]

    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    return llvmlite.binding


@functools.cache
def processor() -> Processor:
    """Return this machine's processor."""
    binding = llvm()
    known = binding.get_host_cpu_features()
    wide = 64 if known.get("avx512f") else 32 if known.get("avx") else 16
    return Processor(
        binding.get_host_cpu_name(),
        known.flatten(),
        wide,
        bool(known.get("fma")) or platform.machine() in ("aarch64", "arm64"),
        bool(known.get("avx512f")),
    )


@functools.cache
def _target(quick: bool) -> Any:
    """Return what writes object files: quickly, or well."""
    return _new_target(0 if quick else 2)


def machine_code(text: str, vectorize: bool, quick: bool = False) -> bytes:
    """Return the object file of a module.

    Parameters
    ----------
    vectorize
        Whether LLVM looks for loops that it can make vectors of, which takes twice as long.
    quick
        Whether to do little about speed: it takes a quarter of the time, and what is written in
        vectors runs up to twice as long. Results have the same bits.
    """
    binding = llvm()
    module = binding.parse_assembly(text)
    target = _target(quick)
    module.data_layout = str(target.target_data)
    module.triple = target.triple
    options = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(target, options)
    if quick:
        _simplify(module, builder)
    elif vectorize:
        builder.getModulePassManager().run(module, builder)
    else:
        _optimize_functions(module, builder)
    return target.emit_object(module)


def _simplify(module: object, builder: object) -> None:
    """Write small functions into those that call them, and variables as values."""
    passes = _inlining()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_dead_code_elimination_pass()
    passes.run(module, builder)


def _optimize_functions(module: Any, builder: Any) -> None:
    """Optimize each function by itself, with the small ones that it calls."""
    _inlining().run(module, builder)
    each = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            each.run(function, builder)


def _inlining() -> Any:
    passes = llvm().create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_sroa_pass()
    return passes


class JitLibrary:
    """Functions of an object file, in memory for as long as somebody has them.

    Parameters
    ----------
    exported
        The functions and variables that others may ask for.
    called
        The functions that it calls.
    """

    def __init__(self, code: bytes, exported: Iterable[str], called: Iterable[str]):
        builder = llvm().JITLibraryBuilder().add_object_img(code)
        for name in called:
            builder.import_symbol(name, _address_in_c(name))
        self._names = frozenset(exported)
        for name in self._names:
            builder.export_symbol(name)
        self._linked = builder.link(_linker(), f"program{next(_numbers)}")

    def address(self, name: str) -> int:
        """Return where a function or a variable is; 0 where there is none."""
        return self._linked[name] if name in self._names else 0


# LLVM takes no name twice, not even of what has gone
_numbers = itertools.count()


@functools.cache
def _linker() -> Any:
    """Return what links the programs of this process: one of its own for each takes 62 KiB, and this 8."""
    return llvm().create_lljit_compiler(_new_target(2, jit=True))


@functools.cache
def _address_in_c(name: str) -> int:
    """Return where a function of C's library is.

    Raises
    ------
    CannotLower
        When there is none.
    """
    known = llvm().address_of_symbol(name)
    if known is not None:
        return known
    library = ctypes.util.find_library("m")
    function = getattr(ctypes.CDLL(library), name, None) if library else None
    if function is None:
        raise CannotLower(f"C's function {name}, which this system lacks")
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


def _new_target(opt: int, **options: Any) -> Any:
    host = processor()
    target = llvm().Target.from_default_triple()
    return target.create_target_machine(
        cpu=host.name,
        features=host.features,
        opt=opt,
        reloc="pic",
        codemodel="jitdefault",
        **options,
    )
