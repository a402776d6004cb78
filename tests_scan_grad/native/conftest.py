"""What tests of the native engine share."""

from zlib import crc32

import pytest

from tests_scan_grad.native.runtime import emulated, runtime_calls
from theano.link.native.render import segment

EMULATED = "neon, emulated"
FAMILIES = (
    *("avx512", "avx2", "neon", "portable"),
    # some hundred times slower than a processor
    pytest.param(EMULATED, marks=pytest.mark.heavy),
)


@pytest.fixture(autouse=True)
def long_segments(request, monkeypatch):
    """Write the segments of a third of the tests as those of long programs, in each run the same."""
    marked = request.node.get_closest_marker
    third = crc32(request.node.nodeid.encode()) % 3 == 0 and not marked("short_segments")
    if third or marked("long_segments"):
        monkeypatch.setattr(segment, "LINES_WORTH_OPTIMIZING", 0)
        monkeypatch.setattr(segment, "LINES_OF_ITS_OWN", 0)


@pytest.fixture
def any_work():
    """Let threads share whatever there is to do."""
    runtime_calls.set_least_work(0)
    yield
    runtime_calls.set_least_work(-1)
    runtime_calls.set_threads(0)


@pytest.fixture(scope="session")
def emulated_runtime():
    """The runtime for aarch64."""
    if not emulated.is_there():
        pytest.skip(f"{emulated.COMPILER} or {emulated.EMULATOR} is not installed")
    functions = emulated.Library()
    yield functions
    functions.close()


@pytest.fixture(params=FAMILIES)
def family(request):
    """Each family of kernels that this processor has, in turn, and one that is emulated."""
    if request.param == EMULATED:
        runtime_calls.emulate(request.getfixturevalue("emulated_runtime"))
        yield request.param
        runtime_calls.emulate(None)
        return
    if not runtime_calls.select_kernels(request.param):
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    runtime_calls.select_kernels(None)


@pytest.fixture
def threads():
    """Sets the number of threads for one test."""
    yield runtime_calls.set_threads
    runtime_calls.set_threads(0)
