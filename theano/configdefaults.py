"""The table of flags. How flags are read, checked and set is in `theano.configparser`."""

import struct
import warnings
from typing import Any

from theano.configparser import (
    Anything,
    Choice,
    Flag,
    Kind,
    Number,
    Text,
    TheanoConfigWarning,
    Truth,
    caller_stacklevel,
    config,
    forward_to_pytensor,
    user_settings,
)
from theano.platform_name import short_platform  # noqa: F401 -- Theano had it here

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


# Settings of xla.bucket_lengths beside a number
OFF, POWERS = "off", "powers"


def _check_bucket_lengths(value: str) -> str | None:
    if value in (OFF, POWERS) or (value.isdecimal() and int(value) > 0):
        return None
    return f"expected {OFF}, {POWERS}, or a number of steps above 0"


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
        Choice(
            ("native", "xla", "cvm", "c|py", "py", "c", "c|py_nogc", "vm", "vm_nogc", "cvm_nogc")
        ),
        "Linker of the mode 'Mode': native compiles whole functions to C, xla through JAX; cvm is "
        "PyTensor's. native and cvm run Python where there is no compiler.",
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
        Truth(),
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
        "print_active_device",
        True,
        Truth(),
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
        Truth(),
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
        "experimental.unpickle_gpu_on_cpu",
        False,
        Truth(),
        "Read the arrays of devices that Theano pickled as NumPy's.",
    ),
    (
        "cache_optimizations",
        True,
        Truth(),
        "Keep rewritten graphs on disk, beside compiled code, for the next process.",
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
        "scan.push_out_memory",
        0.0,
        Number(float, 0),
        "MiB for an accumulation moved out of a loop, done in blocks of steps above it; 0: no bound.",
    ),
    (
        "native.verify",
        False,
        Truth(),
        "Check what the native engine has made of a graph after each of its passes.",
    ),
    (
        "compute_test_value",
        "off",
        Choice(("off", "ignore", "warn", "raise", "pdb")),
        "Compute tag.test_value of each new variable; what to do at an input that has none.",
    ),
]

# Held by PyTensor under the same name (a dot becomes two underscores): (name, kind, doc).
# A value is forwarded only when the user sets it; unset, the flag reads what PyTensor has.
_FORWARDED: list[tuple[str, Kind, str]] = [
    (
        "floatX",
        Choice(("float64", "float32", "float16")),
        "Default floating point type of variables.",
    ),
    (
        "warn_float64",
        Choice(("ignore", "warn", "raise", "pdb")),
        "What to do when a float64 tensor is made.",
    ),
    (
        "cast_policy",
        Choice(("custom", "numpy+floatX")),
        "How the types of mixed operands combine.",
    ),
    ("cxx", Text(), "C++ compiler; empty for none."),
    ("gcc.cxxflags", Text(), "Extra flags for the C++ compiler."),
    ("blas.ldflags", Text(), "Flags that link a BLAS."),
    ("blas.check_openmp", Truth(), "Check that BLAS runs well beside OpenMP."),
    ("lib.amdlibm", Truth(), "Use AMD's mathematics library."),
    ("openmp", Truth(), "Let operators use several threads."),
    (
        "openmp_elemwise_minsize",
        Number(int),
        "Least size for which element-wise work uses threads.",
    ),
    (
        "allow_gc",
        Truth(),
        "Free intermediate results during a call, to use less memory.",
    ),
    (
        "scan.allow_gc",
        Truth(),
        "Free intermediate results between the steps of a loop.",
    ),
    (
        "scan.allow_output_prealloc",
        Truth(),
        "Let a step write straight into the loop's outputs.",
    ),
    (
        "vm.lazy",
        Anything("True | False | None"),
        "Evaluate lazily; None decides by the graph.",
    ),
    (
        "on_unused_input",
        Choice(("raise", "warn", "ignore")),
        "What to do when an input of a function is not used.",
    ),
    (
        "on_opt_error",
        Choice(("warn", "raise", "pdb", "ignore")),
        "What to do when a rewrite fails.",
    ),
    (
        "on_shape_error",
        Choice(("warn", "raise")),
        "What to do when inferring a shape fails.",
    ),
    ("optimizer_verbose", Truth(), "Print each rewrite that is applied."),
    (
        "cycle_detection",
        Choice(("regular", "fast")),
        "How in-place rewrites look for cycles.",
    ),
    (
        "check_stack_trace",
        Choice(("off", "log", "warn", "raise")),
        "What to do when a rewrite drops a stack trace.",
    ),
    ("check_input", Truth(), "Check inputs in compiled C code."),
    ("unpickle_function", Truth(), "Make functions work after unpickling."),
    (
        "exception_verbosity",
        Choice(("low", "medium", "high")),
        "How much an error at run time tells.",
    ),
    ("traceback.limit", Number(int), "Stack frames kept for each variable."),
    ("traceback.compile_limit", Number(int), "Stack frames kept while compiling."),
    ("nocleanup", Truth(), "Keep the files of code that did not compile."),
    ("profile", Truth(), "Profile every function."),
    ("profile_optimizer", Truth(), "Profile the rewrites; needs profile."),
    ("profile_memory", Truth(), "Profile memory; needs profile."),
    ("print_global_stats", Truth(), "Print totals at exit."),
    ("profiling.time_thunks", Truth(), "Time each node."),
    ("profiling.n_apply", Number(int, 1), "Nodes to show."),
    ("profiling.n_ops", Number(int, 1), "Operators to show."),
    ("profiling.output_line_width", Number(int, 1), "Width of a line."),
    (
        "profiling.min_memory_size",
        Number(int, 0),
        "Least bytes of outputs to show a node for.",
    ),
    (
        "profiling.min_peak_memory",
        Truth(),
        "Compute the least peak memory of any order.",
    ),
    ("profiling.destination", Text(), "stderr, stdout or a file."),
    ("profiling.debugprint", Truth(), "Print the graph too."),
    ("profiling.ignore_first_call", Truth(), "Leave the first call out."),
    (
        "DebugMode.patience",
        Number(int, 1),
        "How often to rewrite, to find unstable order.",
    ),
    ("DebugMode.check_c", Truth(), "Run C implementations."),
    ("DebugMode.check_py", Truth(), "Run Python implementations."),
    ("DebugMode.check_finite", Truth(), "Raise for NaN and infinity."),
    (
        "DebugMode.check_strides",
        Number(int, 0),
        "Check strides: 0 no, 1 warn, 2 raise.",
    ),
    ("DebugMode.warn_input_not_reused", Truth(), "Warn when an in-place node copies."),
    (
        "DebugMode.check_preallocated_output",
        Text(),
        "Kinds of preallocated output to try.",
    ),
    (
        "DebugMode.check_preallocated_output_ndim",
        Number(int, 1),
        "Dimensions to vary there.",
    ),
    ("NanGuardMode.nan_is_error", Truth(), "NaN is an error."),
    ("NanGuardMode.inf_is_error", Truth(), "Infinity is an error."),
    ("NanGuardMode.big_is_error", Truth(), "A magnitude above 1e10 is an error."),
    (
        "NanGuardMode.action",
        Choice(("raise", "warn", "pdb")),
        "What to do at such a value.",
    ),
    ("optdb.position_cutoff", Number(float), "Run only rewrites up to this position."),
    ("optdb.max_use_ratio", Number(float), "Bound on uses of one rewrite, per node."),
    ("tensor.cmp_sloppy", Number(int, 0), "Loosen comparisons in tests: 0, 1 or 2."),
    (
        "tensor.insert_inplace_optimizer_validate_nb",
        Number(int),
        "In-place changes between checks; -1 decides by the size of the graph.",
    ),
    ("cmodule.warn_no_version", Truth(), "Warn about C code without a version."),
    ("cmodule.remove_gxx_opt", Truth(), "Compile without optimisation."),
    ("cmodule.compilation_warning", Truth(), "Show the compiler's warnings."),
    ("cmodule.preload_cache", Truth(), "Load the whole cache of modules at import."),
    (
        "cmodule.age_thresh_use",
        Number(int),
        "Seconds after which a cached module is not used.",
    ),
    ("cmodule.debug", Truth(), "Compile with debugging symbols."),
    (
        "compile.wait",
        Number(int, 1),
        "Seconds between attempts to get the compilation lock.",
    ),
    (
        "compile.timeout",
        Number(int, 0),
        "Seconds after which another's lock is broken.",
    ),
    ("base_compiledir", Text(), "Folder that holds the folders of compiled code."),
    ("compiledir_format", Text(), "Name of the folder of compiled code."),
    ("compiledir", Text(), "Folder of compiled code."),
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

_NO_GPU = "XLA, which runs GPUs here, has nothing of the kind"
_NO_BUG = "the behaviour that it warned of is gone"
_NOT_HERE = "PyTensor has nothing that it could change"

# Accepted because programs and .theanorc files set them: (why no effect, {name: default}).
_WITHOUT_EFFECT: list[tuple[str, dict[str, Any]]] = [
    (
        _NO_GPU,
        {
            "assert_no_cpu_op": "ignore",
            "gpuarray.sync": False,
            "gpuarray.sched": "default",
            "gpuarray.single_stream": True,
            "gpuarray.cache_path": "",
            "gpuelemwise.sync": True,
            "gpu.local_elemwise_fusion": True,
            "cuda.root": "",
            "cuda.include_path": "",
            "cuda.enabled": True,
            "cublas.lib": "cublas",
            "nvcc.fastmath": False,
            "nvcc.flags": "",
            "nvcc.compiler_bindir": "",
            "nvcc.cudafe": "heuristic",
            "lib.cnmem": 0.0,
            "lib.cumem": 0.0,
            "magma.include_path": "",
            "magma.library_path": "",
            "magma.enabled": False,
            "dnn.base_path": "",
            "dnn.include_path": "",
            "dnn.library_path": "",
            "dnn.bin_path": "",
            "dnn.conv.workmem": "",
            "dnn.conv.workmem_bwd": "",
            "dnn.conv.algo_bwd": "",
            "dnn.conv.algo_fwd": "small",
            "dnn.conv.algo_bwd_data": "none",
            "dnn.conv.algo_bwd_filter": "none",
            "dnn.conv.precision": "as_input_f32",
            "pycuda.init": False,
            "ctc.root": "",
        },
    ),
    (
        _NO_BUG,
        {
            "warn.ignore_bug_before": "0.9",
            "warn.argmax_pushdown_bug": False,
            "warn.gpusum_01_011_0111_bug": False,
            "warn.sum_sum_bug": False,
            "warn.sum_div_dimshuffle_bug": False,
            "warn.subtensor_merge_bug": False,
            "warn.gpu_set_subtensor1": False,
            "warn.vm_gc_bug": False,
            "warn.signal_conv2d_interface": False,
            "warn.reduce_join": False,
            "warn.inc_set_subtensor1": False,
            "warn.round": False,
            "warn.inc_subtensor1_opt": True,
            "warn.identify_1pexp_bug": False,
        },
    ),
    (
        _NOT_HERE,
        {
            "int_division": "int",
            "deterministic": "default",
            "conv.assert_shape": False,
            "tensor.local_elemwise_fusion": True,
            "experimental.local_alloc_elemwise": True,
            "experimental.local_alloc_elemwise_assert": True,
            "numpy.seterr_all": "ignore",
            "numpy.seterr_divide": "None",
            "numpy.seterr_over": "None",
            "numpy.seterr_under": "None",
            "numpy.seterr_invalid": "None",
            "pickle_test_value": True,
            "print_test_value": False,
            "compute_test_value_opt": "off",
            "reoptimize_unpickled_function": False,
            "unittests.rseed": "666",
            "metaopt.verbose": 0,
            "metaopt.optimizer_excluding": "",
            "metaopt.optimizer_including": "",
            "scan.debug": False,
        },
    ),
]


def _kind_of(default: Any) -> Kind:
    if isinstance(default, bool):
        return Truth()
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
    for name, kind, doc in _FORWARDED:
        mutable = name not in _CANNOT_CHANGE
        config.add(Flag(name, None, kind, doc, name.replace(".", "__"), mutable))
    device = Text(_check_device, "cpu | cuda | xla:cpu, with a number")
    doc = "Device that computes: cuda and xla:cpu by XLA, on a GPU and on the CPU."
    config.add(Flag("device", "cpu", device, doc, None, False))
    for reason, defaults in _WITHOUT_EFFECT:
        for name, default in defaults.items():
            doc = f"Accepted without effect: {reason}."
            config.add(Flag(name, default, _kind_of(default), doc, no_effect=reason))


def _load_user_settings() -> None:
    settings = user_settings(config.flags)
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
