"""The table of flags. How flags are read, checked and set is in `theano.configparser`."""

import struct
import warnings
from typing import Any

from theano.configparser import (
    Anything,
    Boolean,
    Choice,
    Flag,
    Kind,
    Number,
    Text,
    TheanoConfigWarning,
    caller_stacklevel,
    config,
    forward_to_pytensor,
    user_settings,
)
from theano.flags.held_by_pytensor import HELD_BY_PYTENSOR
from theano.flags.without_effect import WITHOUT_EFFECT, WITHOUT_EFFECT_ON_NATIVE
from theano.support.platform_name import short_platform  # noqa: F401 -- Theano had it here

_DEVICES = ("cpu", "cuda", "xla:cpu")
# Of Theano's back-ends before 1.0, which nothing replaces under these names
_GONE = ("gpu", "opencl")


def _check_device(value: str) -> str | None:
    if value.rstrip("0123456789:") in (*_DEVICES, *_GONE):
        return None
    return f"valid devices are {', '.join(_DEVICES)}, with a number where there are several"


def _check_contexts(value: str) -> str | None:
    parts = (part.partition("->") for part in value.split(";") if part.strip())
    if all(name.strip() and device.strip() for name, _, device in parts):
        return None
    return "expected name->device;name->device, such as dev0->cuda0;dev1->cuda1"


# Settings of xla.bucket_lengths besides a number
OFF, POWERS = "off", "powers"


def _check_bucket_lengths(value: str) -> str | None:
    if value in (OFF, POWERS) or (value.isdecimal() and int(value) > 0):
        return None
    return f"expected {OFF}, {POWERS}, or a number of steps above 0"


# Theano's fast linkers, and whether they free intermediate results; None: as the flag says
OLD_LINKERS = {
    "cvm": None,
    "c|py": None,
    "c": None,
    "vm": None,
    "c|py_nogc": False,
    "vm_nogc": False,
    "cvm_nogc": False,
}
_PYTENSORS_LINKERS = tuple(f"pytensor_{name}" for name in OLD_LINKERS)

# Held by this package: (name, default, kind, doc).
_OWN: list[tuple[str, Any, Kind, str]] = [
    (
        "mode",
        "Mode",
        Anything("name of a mode"),
        "Mode that compiles when none is given.",
    ),
    (
        "linker",
        "native",
        Choice(("native", "xla", "py", *OLD_LINKERS, *_PYTENSORS_LINKERS)),
        "Linker of the mode 'Mode': native compiles whole functions to C, xla through JAX, and "
        "Theano's names mean the same; py is Python. Those of PyTensor begin with pytensor_. "
        "Without a compiler Python runs.",
    ),
    (
        "optimizer",
        "o4",
        Choice(
            (
                "o4",
                "o3",
                "o2",
                "o1",
                "unsafe",
                "fast_run",
                "fast_compile",
                "merge",
                "stabilize",
            )
            + ("fast_run_stable", "None")
        ),
        "Set of rewrites of the mode 'Mode'.",
    ),
    (
        "optimizer_including",
        "",
        Text(),
        "Rewrites or tags, separated by colons, that Theano's default modes also run.",
    ),
    (
        "optimizer_excluding",
        "",
        Text(),
        "Rewrites or tags, separated by colons, that Theano's default modes leave out.",
    ),
    (
        "optimizer_requiring",
        "",
        Text(),
        "Tags, separated by colons: Theano's default modes run only rewrites that have them.",
    ),
    (
        "force_device",
        False,
        Boolean(),
        "Raise an error at import if the device asked for is missing.",
    ),
    (
        "contexts",
        "",
        Text(_check_contexts, "name->device;name->device"),
        "Names of devices for graphs: dev0->cuda0;dev1->cuda1.",
    ),
    (
        "init_gpu_device",
        "",
        Text(),
        "Device of the default context, without computing on it unless a graph says so.",
    ),
    (
        "unittests.rseed",
        "666",
        Text(),
        "Seed of the helpers in theano.tests.unittest_tools, or random.",
    ),
    (
        "print_active_device",
        True,
        Boolean(),
        "Write to stderr which device a context is mapped to.",
    ),
    (
        "gpuarray.preallocate",
        0.0,
        Number(float),
        "Memory to take from a GPU at once: up to 1 a part of it, above 1 MiB; below 0 none is kept.",
    ),
    (
        "dnn.enabled",
        "auto",
        Choice(("auto", "True", "False", "no_check")),
        "Whether cuDNN may be used; no_check: without looking for it.",
    ),
    (
        "xla.tf32",
        False,
        Boolean(),
        "Let a GPU compute products of float32 with 10 bits of mantissa, as TF32, which is faster.",
    ),
    (
        "xla.bucket_lengths",
        OFF,
        Text(_check_bucket_lengths, f"{OFF} | {POWERS} | a number"),
        "Have the lengths of loops share programs: those up to the same power of two, or up to the "
        "same multiple of a number.",
    ),
    (
        "xla.generators",
        "numpy",
        Choice(("numpy", "jax")),
        "Which generators draw in the mode 'XLA' what PyTensor's random variables are: NumPy's, on the "
        "host, or JAX's, on the device, from keys that are made of the states of the others.",
    ),
    (
        "xla.programs",
        256,
        Number(int, 0),
        "How many programs of XLA a function keeps, one for each combination of shapes and lengths; "
        "0 keeps all. The one that was not used for longest is dropped first.",
    ),
    (
        "experimental.unpickle_gpu_on_cpu",
        False,
        Boolean(),
        "Read the arrays of devices that Theano pickled as NumPy's.",
    ),
    (
        "cache_optimizations",
        True,
        Boolean(),
        "Keep rewritten graphs on disk, next to compiled code, for the next process.",
    ),
    (
        "cache_size",
        500.0,
        Number(float, 0),
        "MiB on disk for rewritten graphs, and as many for compiled code: above it what was not used "
        "for longest is removed; 0: no bound.",
    ),
    (
        "scan.save",
        "auto",
        Choice(("auto", "all", "none")),
        "Forward values that the gradient of scan saves: what is expensive to compute, all, none.",
    ),
    (
        "scan.gpu_kernels",
        "never",
        Choice(("auto", "always", "never")),
        "Whether a loop runs as one kernel on a GPU in the mode 'XLA': auto, where the model of the "
        "device finds it faster than XLA's loop; always, where it has one.",
    ),
    (
        "scan.push_out_memory",
        0.0,
        Number(float, 0),
        "MiB for an accumulation moved out of a loop, done in blocks of steps above it; 0: no bound.",
    ),
    (
        "scan.memory_budget",
        0.0,
        Number(float, 0),
        "MiB that a call of a native function may take: loops keep fewer steps for gradients, and "
        "compute the others again; 0: no bound.",
    ),
    (
        "native.compiler",
        "auto",
        Choice(("auto", "cc", "llvm")),
        "What compiles native functions: the C compiler, LLVM in this process, or the first that is there.",
    ),
    (
        "native.quick",
        True,
        Boolean(),
        "Compile functions quickly first, and optimize those that run for long behind all else.",
    ),
    (
        "native.verify",
        False,
        Boolean(),
        "Check what the native engine has made from a graph after each of its passes.",
    ),
    (
        "conv.assert_shape",
        False,
        Boolean(),
        "Check that images and filters have the shapes that convolutions declare.",
    ),
    (
        "compute_test_value",
        "off",
        Choice(("off", "ignore", "warn", "raise", "pdb")),
        "Compute tag.test_value of each new variable; what to do at an input that has none.",
    ),
]

_CANNOT_CHANGE = {
    "scan.allow_output_prealloc",
    "tensor.cmp_sloppy",
    "cmodule.preload_cache",
    "cmodule.age_thresh_use",
    "compile.wait",
    "compile.timeout",
    "base_compiledir",
    "compiledir_format",
    "compiledir",
    "contexts",
    "init_gpu_device",
}


def _kind_of(default: object) -> Kind:
    if isinstance(default, bool):
        return Boolean()
    if isinstance(default, int | float):
        return Number(type(default))
    return Text()


def local_bitwidth() -> int:
    """Return how many bits a pointer has."""
    return struct.calcsize("P") * 8


def python_int_bitwidth() -> int:
    """Return how many bits C's type long has, which may be fewer than a pointer has."""
    return struct.calcsize("l") * 8


def _register_table() -> None:
    for name, default, kind, doc in _OWN:
        config.add(Flag(name, default, kind, doc, mutable=name not in _CANNOT_CHANGE))
    for name, kind, doc in HELD_BY_PYTENSOR:
        mutable = name not in _CANNOT_CHANGE
        ignored = WITHOUT_EFFECT_ON_NATIVE.get(name, "")
        config.add(Flag(name, None, kind, doc, name.replace(".", "__"), mutable, ignored))
    device = Text(_check_device, "cpu | cuda | xla:cpu, with a number")
    doc = "Device that computes: cuda and xla:cpu by XLA, on a GPU and on the CPU."
    config.add(Flag("device", "cpu", device, doc, None, False))
    for reason, defaults in WITHOUT_EFFECT:
        for name, default in defaults.items():
            doc = f"Accepted without effect: {reason}."
            config.add(Flag(name, default, _kind_of(default), doc, no_effect=reason))


def _load_user_settings() -> None:
    settings = user_settings(config.flags)
    for name, value in settings.items():
        if config.flags[name].pytensor:
            config.warn_of_no_effect(config.flags[name], value)
    forward_to_pytensor(
        {
            flag.pytensor: settings[name]
            for name, flag in config.flags.items()
            if flag.pytensor and name in settings
        }
    )
    for name, value in settings.items():
        if not config.flags[name].pytensor:
            config.keep(config.flags[name], value)
    if config.device.startswith(_GONE):
        complaint = f"device={config.device} has no effect: use device=cuda for a GPU"
        if config.force_device:
            raise RuntimeError(f"force_device=True, but {complaint}")
        warnings.warn(f"The flag {complaint}", TheanoConfigWarning, stacklevel=caller_stacklevel())


_register_table()
_load_user_settings()
