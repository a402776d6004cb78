"""Numbers of threads, from made-up Linux files on processors and control groups."""

import ctypes
import sys

import pytest

from theano.link.native.runtime.load import library

WORDS = 16


class Set(ctypes.Structure):
    """A set of processors as the runtime has it."""

    _fields_ = [("words", ctypes.c_uint64 * WORDS)]


def threads_on(root, allowed):
    """The number of threads of a process that may use some processors."""
    words = [0] * WORDS
    for processor in allowed:
        words[processor // 64] |= 1 << (processor % 64)
    function = library().tn_processors_by_files
    return function(ctypes.c_char_p(str(root).encode()), ctypes.byref(Set((*words,))))


def write(root, files):
    """Make files below a root."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{text}\n")


def siblings(*cores):
    """The files that tell which processors are one core."""
    folder = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    return {folder.format(p): ",".join(map(str, core)) for core in cores for p in core}


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the files are those of Linux")


def test_without_files_each_processor_has_a_thread(tmp_path):
    assert threads_on(tmp_path, range(6)) == 6
    assert threads_on(tmp_path, [5, 200, 1023]) == 3


@pytest.mark.parametrize("neighbours", [True, False])
def test_a_core_has_one_thread(tmp_path, neighbours):
    cores = [(2 * k, 2 * k + 1) if neighbours else (k, k + 8) for k in range(8)]
    write(tmp_path, siblings(*cores))
    assert threads_on(tmp_path, range(16)) == 8
    # one of each core, and both of one
    assert threads_on(tmp_path, [first for first, _ in cores]) == 8
    assert threads_on(tmp_path, [last for _, last in cores]) == 8
    assert threads_on(tmp_path, cores[3]) == 1


def test_siblings_may_be_a_range(tmp_path):
    path = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    write(tmp_path, {path.format(k): "0-3" if k < 4 else "4-7" for k in range(8)})
    assert threads_on(tmp_path, range(8)) == 2
    assert threads_on(tmp_path, [1, 2, 6]) == 2


def test_slow_cores_are_left_out_where_the_others_would_wait_for_them(tmp_path):
    path = "sys/devices/system/cpu/cpu{}/cpu_capacity"
    # four cores that do 1024, four that do 400: eight with equal parts do as much as 3.1 of the first
    write(tmp_path, {path.format(k): 400 if k < 4 else 1024 for k in range(8)})
    assert threads_on(tmp_path, range(8)) == 4
    assert threads_on(tmp_path, range(4)) == 4
    # three speeds: six of the upper two do most
    write(tmp_path, {path.format(k): 900 for k in (2, 3)})
    assert threads_on(tmp_path, range(8)) == 6
    write(tmp_path, {path.format(k): 900 for k in range(4)})
    assert threads_on(tmp_path, range(8)) == 8


def test_efficient_cores_of_a_hybrid_processor_are_left_out(tmp_path):
    cores = [(0, 1), (2, 3), (4, 5), (6, 7), *((k,) for k in range(8, 16))]
    files = {"sys/devices/cpu_core/cpus": "0-7", "sys/devices/cpu_atom/cpus": "8-15"}
    write(tmp_path, siblings(*cores) | files)
    assert threads_on(tmp_path, range(16)) == 4
    assert threads_on(tmp_path, range(8, 12)) == 4


@pytest.mark.parametrize(
    "limit, threads",
    [("max 100000", 8), ("300000 100000", 3), ("150000 100000", 2), ("50000 100000", 1)],
)
def test_quota_of_a_control_group(tmp_path, limit, threads):
    write(tmp_path, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": limit})
    assert threads_on(tmp_path, range(8)) == threads


def test_the_least_quota_of_the_groups_around_counts(tmp_path):
    limits = {"": "max 100000", "/job.slice": "200000 100000", "/job.slice/one": "500000 100000"}
    files = {f"sys/fs/cgroup{group}/cpu.max": limit for group, limit in limits.items()}
    write(tmp_path, files | {"proc/self/cgroup": "0::/job.slice/one"})
    assert threads_on(tmp_path, range(8)) == 2
    write(tmp_path, {"sys/fs/cgroup/job.slice/one/cpu.max": "100000 100000"})
    assert threads_on(tmp_path, range(8)) == 1


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
@pytest.mark.parametrize("group", ["", "/docker/0a1b"])
def test_quota_of_the_first_version_of_control_groups(tmp_path, folder, group):
    lines = "5:memory:/docker/0a1b\n4:cpu,cpuacct:/docker/0a1b\n3:cpuset:/docker/0a1b\n0::/"
    files = {"cpu.cfs_quota_us": 250000, "cpu.cfs_period_us": 100000}
    write(tmp_path, {f"sys/fs/cgroup/{folder}{group}/{name}": n for name, n in files.items()})
    write(tmp_path, {"proc/self/cgroup": lines})
    assert threads_on(tmp_path, range(8)) == 3
    write(tmp_path, {f"sys/fs/cgroup/{folder}{group}/cpu.cfs_quota_us": -1})
    assert threads_on(tmp_path, range(8)) == 8


def test_a_quota_of_memory_or_of_sets_is_none_of_time(tmp_path):
    write(tmp_path, {"proc/self/cgroup": "2:cpuset,memory:/", "sys/fs/cgroup/cpu/x": ""})
    write(tmp_path, {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": 100000})
    write(tmp_path, {"sys/fs/cgroup/cpu/cpu.cfs_period_us": 100000})
    assert threads_on(tmp_path, range(4)) == 4


def test_a_quota_larger_than_the_processors_changes_nothing(tmp_path):
    write(tmp_path, {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "3200000 100000"})
    write(tmp_path, siblings((0, 1), (2, 3)))
    assert threads_on(tmp_path, range(4)) == 2
