"""Fixtures that the tests of the native engine share."""

from zlib import crc32

import pytest

from tests_scan_grad.native.runtime import emulated, runtime_calls
from theano.link.native.render import segment

# What is emulated, by the option that runs it: processors are some hundred times slower so.
EMULATED = {
    "neon, emulated": ("--qemu", emulated.ARM),
    "windows, emulated": ("--wine", emulated.WINDOWS),
}
FAMILIES = ("avx512", "avx2", "neon", "portable", *EMULATED)


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
def emulated_runtimes(request):
    """Return the runtime on another machine by its name in `EMULATED`, where it is asked for."""
    made = {}

    def runtime_on(name):
        option, machine = EMULATED[name]
        asked = request.config.getoption
        if not asked(option) and not (option == "--qemu" and asked("--heavy")):
            pytest.skip(f"{option} runs it")
        if machine.lacks():
            pytest.skip(machine.lacks())
        if name not in made:
            made[name] = emulated.Library(machine)
        return made[name]

    yield runtime_on
    for functions in made.values():
        functions.close()


@pytest.fixture(params=FAMILIES)
def family(request):
    """Each family of kernels that this processor has, in turn, and one that is emulated."""
    if request.param in EMULATED:
        runtime_calls.emulate(request.getfixturevalue("emulated_runtimes")(request.param))
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
