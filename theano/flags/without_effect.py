"""The tables of flags that are accepted and do nothing, or nothing in the native engine."""

from typing import Any

_NO_GPU = "XLA, which runs GPUs here, has nothing of the kind"
_NO_BUG = "the behaviour that it warned of is gone"
_NOT_HERE = "PyTensor has nothing that it could change"

# Accepted because programs and .theanorc files set them: (why no effect, {name: default}).
WITHOUT_EFFECT: list[tuple[str, dict[str, Any]]] = [
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
            "metaopt.verbose": 0,
            "metaopt.optimizer_excluding": "",
            "metaopt.optimizer_including": "",
            "scan.debug": False,
        },
    ),
]

# Held by PyTensor, whose own linkers heed them: why they change nothing in the native engine.
WITHOUT_EFFECT_ON_NATIVE = {
    "gcc.cxxflags": "the native engine compiles C with its own flags; the environment variable "
    "CC names the compiler, and only operations with their own C++ are compiled with these",
    "openmp": "the native engine has its own threads, and OMP_NUM_THREADS limits them",
    "openmp_elemwise_minsize": "the native engine shares work between threads where that pays; "
    "OMP_NUM_THREADS limits them",
    "lib.amdlibm": "the native engine has its own mathematical functions, on vectors",
    "blas.check_openmp": "the native engine has its own products; OMP_NUM_THREADS limits their "
    "threads",
}
