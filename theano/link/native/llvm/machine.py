"""LLVM itself, by llvmlite: what the processor has, and machine code of modules."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
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
def _target() -> Any:
    """Return what writes object files."""
    return _new_target()


def machine_code(text: str, vectorize: bool) -> bytes:
    """Return the object file of a module.

    Parameters
    ----------
    vectorize
        Whether LLVM looks for loops that it can make vectors of, which takes twice as long.
    """
    binding = llvm()
    module = binding.parse_assembly(text)
    target = _target()
    module.data_layout = str(target.target_data)
    module.triple = target.triple
    options = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(target, options)
    if vectorize:
        builder.getModulePassManager().run(module, builder)
    else:
        _optimize_functions(module, builder)
    return target.emit_object(module)


def _optimize_functions(module: Any, builder: Any) -> None:
    """Optimize each function by itself, with the small ones that it calls."""
    passes = llvm().create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_sroa_pass()
    passes.run(module, builder)
    each = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            each.run(function, builder)


class JitLibrary:
    """Functions of an object file, in memory.

    Parameters
    ----------
    called
        The functions that it calls.
    """

    def __init__(self, code: bytes, called: Iterable[str]):
        binding = llvm()
        for name in called:
            _find(name)
        module = binding.parse_assembly("")
        module.triple = _target().triple
        # an engine owns its target
        self._engine = binding.create_mcjit_compiler(module, _new_target(jit=True))
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return where a function or a variable is; 0 where there is none."""
        return self._engine.get_function_address(name) or self._engine.get_global_value_address(
            name
        )


def _find(name: str) -> None:
    """Have LLVM find a function of C's library, which ends the process where it does not.

    Raises
    ------
    CannotLower
        When there is none.
    """
    binding = llvm()
    if binding.address_of_symbol(name) is not None:
        return
    library = ctypes.util.find_library("m")
    function = getattr(ctypes.CDLL(library), name, None) if library else None
    if function is None:
        raise CannotLower(f"C's function {name}, which this system lacks")
    binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


def _new_target(**options: Any) -> Any:
    host = processor()
    target = llvm().Target.from_default_triple()
    return target.create_target_machine(
        cpu=host.name, features=host.features, opt=2, reloc="pic", codemodel="jitdefault", **options
    )
