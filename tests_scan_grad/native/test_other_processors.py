"""Generated loops as other processors run them: the same bits, however well they are optimized."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests_scan_grad.native.runtime import runtime_calls
from tests_scan_grad.native.test_threads import loops_of, program_of
from theano.link.native.build import compiler as build_compiler
from theano.link.native.build.compiler_flags import FLAGS, without_unknown
from theano.link.native.runtime import build, load

LEVELS = ("-O0", "-O1", "-O2")


@dataclass(frozen=True)
class Processor:
    """A processor that code is compiled for: the compiler's flags, and the family of kernels it has."""

    flags: tuple[str, ...]
    family: str = "portable"


PROCESSORS = {
    "without vectors of 32 bytes": Processor(("-march=x86-64",)),
    "without fused multiply-adds": Processor(("-march=x86-64", "-mavx2", "-mno-fma"), "avx2"),
    "with fused multiply-adds": Processor(("-march=x86-64", "-mavx2", "-mfma"), "avx2"),
}


def bits_of_loops(dtype, command, folder, runner=(), levels=LEVELS):
    """Return what the loops of a gated network and its gradient print, by optimization level."""
    found = []
    for loop in loops_of("gated", dtype):
        (folder / "loop.inc").write_text(program_of(loop))
        hashes = {}
        for level in levels:
            made = str(folder / "program")
            subprocess.run([*command, level, f"-I{folder}", "-o", made, "-lm"], check=True)
            done = subprocess.run([*runner, made], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            hashes[level] = done.stdout
        found.append(hashes)
    return found


def command_of(compiler, flags, objects):
    """The command that makes a program of a loop, as the engine compiles it, with the runtime."""
    known = without_unknown(FLAGS, compiler, build_compiler._version(tuple(compiler)))
    portable = [flag for flag in known if flag not in ("-march=native", "-fPIC")]
    program = str(Path(__file__).with_name("loop_program.c"))
    return [*compiler, *portable, *flags, "-pthread", f"-I{build.SOURCES}", program, *objects]


def assert_bits_do_not_depend_on_the_level(found):
    assert len(found) == 2
    for hashes in found:
        assert len(set(hashes.values())) == 1, hashes


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PROCESSORS)
def test_bits_on_other_x86_processors(name, dtype, tmp_path):
    processor, compiler = PROCESSORS[name], build.find_compiler()
    if compiler is None or platform.machine() != "x86_64":
        pytest.skip("the flags are those of compilers for x86")
    if not runtime_calls.select_kernels(processor.family):
        pytest.skip(f"this processor has no {processor.family}")
    runtime_calls.select_kernels(None)
    command = command_of(compiler, processor.flags, [load.library()._name])
    assert_bits_do_not_depend_on_the_level(bits_of_loops(dtype, command, tmp_path))


def emulated_bits(runtime, flags, dtype, folder, levels=LEVELS):
    """Return what loops print on the machine of an emulated runtime."""
    compiler = (*runtime.machine.compiler(), *runtime.machine.options)
    command = command_of(compiler, flags, runtime.objects)
    return bits_of_loops(dtype, command, folder, [runtime.machine.emulator()], levels)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_on_an_emulated_processor(dtype, emulated_runtimes, tmp_path):
    found = emulated_bits(emulated_runtimes("neon, emulated"), [], dtype, tmp_path)
    assert_bits_do_not_depend_on_the_level(found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_on_windows_are_those_here(dtype, emulated_runtimes, tmp_path):
    runtime = emulated_runtimes("windows, emulated")
    # Zig's name of it has no hyphen
    flags = ("-march=x86_64", "-mavx2", "-mfma")
    found = emulated_bits(runtime, flags, dtype, tmp_path, ["-O2"])
    here = command_of(
        build.find_compiler(), (flags[0].replace("_", "-"), *flags[1:]), [load.library()._name]
    )
    assert len(found) == 2 and bits_of_loops(dtype, here, tmp_path, levels=["-O2"]) == found


@pytest.mark.parametrize(
    "flags",
    [
        ("--target=aarch64-linux-gnu", "-DTN_VECTOR_BYTES=16"),
        ("--target=x86_64-linux-gnu", "-DTN_VECTOR_BYTES=16"),
        ("--target=x86_64-linux-gnu", "-DTN_VECTOR_BYTES=32", "-mavx2", "-mfma"),
        ("--target=x86_64-linux-gnu", "-DTN_VECTOR_BYTES=64", "-mavx512f", "-mavx512dq", "-mfma"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_clang_compiles_activations(flags, level, tmp_path):
    """It has no builtins of GCC's, and some releases lack those of later ones."""
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    text = tmp_path / "text.c"
    text.write_text(
        '#include "kernels/activations.inc"\n'
        "void run(tn_f32v *x, tn_f64v *y) { *x = tn_v_tanh_f32(*x), *y = tn_v_exp_f64(*y); }\n"
    )
    command = ["clang", *flags, level, "-Werror", f"-I{build.SOURCES}", "-c", str(text)]
    done = subprocess.run([*command, "-o", os.devnull], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
