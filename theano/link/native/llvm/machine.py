"""LLVM itself, by llvmlite: what the processor has, and machine code of modules."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import itertools
import platform
import sys
from collections.abc import Iterable
from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.code_pages import CodePages
from theano.link.native.llvm.elf import NotLoadable, ObjectFile
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


# whether `elf.py` knows what LLVM writes here
HAS_OWN_LINKER = sys.platform == "linux" and platform.machine() == "x86_64"


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
    # LLVM keeps each type and constant of a context for as long as the context lives
    module = binding.parse_assembly(text, binding.create_context())
    target = _target(quick)
    module.data_layout = str(target.target_data)
    module.triple = target.triple
    if quick:
        _simplifying().run(module, _builder(True))
    elif vectorize:
        builder = _builder(False)
        passes = builder.getModulePassManager()
        passes.run(module, builder)
        _dispose(passes)
    else:
        # each function by itself, with the small ones that it calls
        _inlining().run(module, _builder(False))
        each = _optimizing_one()
        for function in module.functions:
            if not function.is_declaration:
                each.run(function, _builder(False))
    return target.emit_object(module)


def _builder(quick: bool) -> Any:
    """Return what passes ask about the target.

    It is for one run: a run leaves in it what refers to the run itself.
    """
    binding = llvm()
    options = binding.create_pipeline_tuning_options(speed_level=2)
    return binding.create_pass_builder(_target(quick), options)


def _dispose(passes: Any) -> None:
    """Give back the memory of passes, which llvmlite 0.50 keeps: 56 KiB for those that run once only.

    `close` finds the method of another base class, which does nothing.
    """
    dispose = getattr(llvm().newpassmanagers.NewPassManager, "_dispose", None)
    if dispose is not None and not passes.closed:
        dispose(passes)
        passes.detach()


# These run any number of times; made each time, a list of them would take 10 KiB for good.


@functools.cache
def _optimizing_one() -> Any:
    return _builder(False).getFunctionPassManager()


@functools.cache
def _inlining() -> Any:
    return _new_inlining()


@functools.cache
def _simplifying() -> Any:
    """Return what writes small functions into those that call them, and variables as values."""
    passes = _new_inlining()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_dead_code_elimination_pass()
    return passes


def _new_inlining() -> Any:
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

    Raises
    ------
    CannotLower
        When it calls what this system lacks.
    """

    def __init__(self, code: bytes, exported: Iterable[str], called: Iterable[str]):
        try:
            file = ObjectFile(code)
            pages = CodePages(
                lambda address: file.at(address, _address_in_c), file.size, file.constant
            )
        except (NotLoadable, OSError):
            # LLVM's own linker knows all that LLVM writes
            linked = _linked_by_llvm(code, exported, called)
            self._owner: Any = linked
            self._addresses = {name: linked[name] for name in exported}
        else:
            self._owner = pages
            self._addresses = {name: pages.address + file.place(name) for name in exported}

    def address(self, name: str) -> int:
        """Return where a function or a variable is; 0 where there is none."""
        return self._addresses.get(name, 0)


# LLVM takes no name twice, not even of what has gone
_numbers = itertools.count()


def _linked_by_llvm(code: bytes, exported: Iterable[str], called: Iterable[str]) -> Any:
    """Return what LLVM's linker makes of an object file, which takes 50 KiB in addition to the code."""
    builder = llvm().JITLibraryBuilder().add_object_img(code)
    for name in called:
        builder.import_symbol(name, _address_in_c(name))
    for name in exported:
        builder.export_symbol(name)
    return builder.link(_linker(), f"program{next(_numbers)}")


@functools.cache
def _linker() -> Any:
    """Return what links programs in this process: one of its own for each takes 62 KiB more."""
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
        # what calls and constants are near to; LLVM's own linker may put them anywhere
        codemodel="small" if HAS_OWN_LINKER else "jitdefault",
        **options,
    )
