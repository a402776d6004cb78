"""Modules of Theano's tests that are run: in each test run, and on request."""

from tests_scan_grad.upstream.theano_tests.run import fetched

# Not tests of the package: the style of Theano's files, a machine's MPI, how fast something is.
LEFT_OUT = (
    "theano/tests/test_flake8.py",
    "theano/tensor/tests/test_mpi.py",
)

# What is run in each test run: a taste
QUICK = (
    "theano/scan_module/tests/test_scan_checkpoints.py",
    "theano/compile/tests/test_mode.py",
    "theano/scan_module/tests/test_scan_utils.py",
    "theano/compile/tests/test_ops.py",
    "theano/gof/tests/test_fg.py",
)

# Modules of images and sequences, of whose tests each test run takes one in so many
PARTS = {
    "theano/tensor/nnet/tests/test_abstract_conv.py": 151,
    "theano/tensor/nnet/tests/test_corr.py": 6,
    "theano/tensor/nnet/tests/test_corr3d.py": 9,
    "theano/tensor/nnet/tests/test_ctc.py": 1,
    "theano/tensor/signal/tests/test_pool.py": 19,
}

# What is run with --heavy, the longest first: loops, derivatives, functions, and a part of the rest
HEAVY = (
    "theano/tensor/tests/test_subtensor.py",
    "theano/scan_module/tests/test_scan.py",
    "theano/tensor/nnet/tests/test_nnet.py",
    "theano/compile/tests/test_debugmode.py",
    "theano/gof/tests/test_vm.py",
    "theano/compile/tests/test_builders.py",
    "theano/gof/tests/test_compute_test_value.py",
    "theano/tests/test_gradient.py",
    "theano/tensor/tests/test_opt_uncanonicalize.py",
    "theano/scan_module/tests/test_scan_opt.py",
    "theano/compile/tests/test_function_module.py",
    "theano/compile/tests/test_pfunc.py",
    "theano/compile/tests/test_modes.py",
    "theano/tensor/tests/test_shared_randomstreams.py",
    "theano/tests/test_ifelse.py",
    "theano/tensor/tests/test_sharedvar.py",
    "theano/tests/test_printing.py",
    "theano/compile/tests/test_function.py",
    "theano/compile/tests/test_nanguardmode.py",
    "theano/compile/tests/test_shared.py",
    "theano/tests/test_pickle_unpickle_theano_fn.py",
    "theano/tests/test_updates.py",
    "theano/gof/tests/test_opt.py",
    "theano/tensor/nnet/tests/test_opt.py",
)


def all_modules() -> list[str]:
    """All modules of tests but those for GPUs."""
    folder = fetched()
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("test_*.py"))
    return sorted(set(found).difference(LEFT_OUT))
