"""Which modules of Theano's tests are run: in each test run, and on request."""

from tests_scan_grad.upstream.theano_tests.run import fetched

# Not tests of the package: the style of Theano's files, a machine's MPI, how fast something is.
LEFT_OUT = (
    "theano/tests/test_flake8.py",
    "theano/tensor/tests/test_mpi.py",
)

# What is run in each test run, the longest first
QUICK = (
    "theano/scan_module/tests/test_scan.py",
    "theano/tests/test_rop.py",
    "theano/scan_module/tests/test_scan_opt.py",
    "theano/tests/test_ifelse.py",
    "theano/tests/test_gradient.py",
    "theano/scan_module/tests/test_scan_checkpoints.py",
    "theano/scan_module/tests/test_scan_utils.py",
)


def all_modules() -> list[str]:
    """All modules of tests but those for GPUs."""
    folder = fetched()
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("test_*.py"))
    return sorted(set(found).difference(LEFT_OUT))
