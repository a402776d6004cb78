"""Caches on disk: only the user's own, complete files are used, and nothing is left behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.disk.damaged_files import ANOTHER_USER, Calls, put
from tests_scan_grad.fresh_process import ROOT, run_python
from theano.link.native import report
from theano.link.native.build import libraries as build
from theano.link.native.build import objects
from theano.rewriting.disk import (
    admitted,
    building_folders,
    cached_graphs,
    graph_pickles,
    own_folders,
)
from theano.rewriting.disk.building_folders import PREFIX, building_folder, make_building_folder
from theano.rewriting.disk.sealed_files import is_sealed, read_sealed, write_sealed

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users are those of POSIX")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root may give files away"
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    for module in (build, objects):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "native")
    monkeypatch.setattr("theano.compile.mode.folder_of_graphs", lambda: tmp_path / "graphs")
    monkeypatch.setattr(cached_graphs, "SECONDS_WORTH_CACHING", 0)
    known = graph_pickles.KNOWN_CODE | {"tests_scan_grad"}
    monkeypatch.setattr(graph_pickles, "KNOWN_CODE", known)
    monkeypatch.setattr(theano.config, "cache_optimizations", True)
    own_folders._warn.cache_clear()
    return tmp_path


def compile_something() -> list[str]:
    """A loop, compiled and called; what was warned of."""
    x = T.vector("x")
    sums, _ = theano.scan(lambda v, s: T.tanh(s + v), [x], [T.zeros((), x.dtype)])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function = theano.function([x], sums * 2, mode="NATIVE")
    assert report(function).segments
    np.testing.assert_allclose(function([0.25, 0.5]), 2 * np.tanh([0.25, np.tanh(0.25) + 0.5]))
    return [str(w.message) for w in seen]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_folders_and_files_are_for_the_user_alone(cache):
    before = os.umask(0)
    try:
        assert compile_something() == []
    finally:
        os.umask(before)
    for name in ("native", "graphs"):
        assert (cache / name).stat().st_mode & 0o777 == 0o700
        modes = {path.stat().st_mode & 0o777 for path in (cache / name).iterdir()}
        assert modes == {0o600}


@pytest.mark.parametrize("name", ["native", "graphs"])
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_can_write_is_not_used(cache, name, mode):
    compile_something()
    before = names(cache / name)
    for path in list((cache / name).iterdir()):
        put(path, b"changed by another")
    (cache / name).chmod(mode)
    (warning,) = compile_something()
    assert str(cache / name) in warning and "chmod go-w" in warning
    assert names(cache / name) == before
    assert compile_something() == []
    assert all(p.read_bytes() == b"changed by another" for p in (cache / name).iterdir())


@as_root
@pytest.mark.parametrize("name", ["native", "graphs"])
def test_a_folder_of_another_user_is_not_used(cache, name):
    (cache / name).mkdir(mode=0o700)
    os.chown(cache / name, ANOTHER_USER, ANOTHER_USER)
    (warning,) = compile_something()
    assert str(cache / name) in warning and "belongs to another user" in warning
    assert names(cache / name) == []


@pytest.mark.parametrize("damage", ["mode", "owner", "link"])
def test_a_file_of_another_user_is_not_read(cache, damage):
    write_sealed(cache / "graphs", "graph-1", b"content")
    path = cache / "graphs" / "graph-1"
    assert read_sealed(path) == b"content"
    if damage == "mode":
        path.chmod(0o620)
    elif damage == "link":
        path.rename(cache / "elsewhere")
        path.symlink_to(cache / "elsewhere")
    elif os.geteuid():
        pytest.skip("root may give files away")
    else:
        os.chown(path, ANOTHER_USER, ANOTHER_USER)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert read_sealed(path) is None and read_sealed(path) is None
    assert [str(path) in str(w.message) for w in seen] == [True] * (damage != "link")
    write_sealed(cache / "graphs", "graph-1", b"again")
    assert read_sealed(path) == b"again"


def test_a_file_has_the_name_that_it_was_sealed_under(cache):
    write_sealed(cache, "program-1", b"one")
    write_sealed(cache, "program-2", b"two")
    os.replace(cache / "program-2", cache / "program-1")
    assert read_sealed(cache / "program-1") is None


def harmless(*_):
    raise AssertionError("it was called")


@pytest.mark.parametrize(
    "value",
    [
        Calls(os.system, "true"),
        Calls(harmless, 1),
        Calls(eval, "1"),
        Calls(getattr, "", "join"),
        Calls(np.memmap, "/dev/null", "u1", "r", 0, (1,)),
        Calls(np.load, "/dev/null"),
        Calls(theano.function, [], []),
        Calls(cached_graphs.Path, "."),
        os.path,
        subprocess.Popen,
    ],
    ids=(
        *("system", "harmless", "eval", "getattr", "memmap", "load", "function", "Path"),
        *("a module", "Popen"),
    ),
)
def test_what_a_pickle_may_not_name_is_not_written_and_not_read(value):
    path_is_harmless = getattr(value, "call", ("",))[0] is Path
    try:
        content = pickle.dumps(value)
    except TypeError:
        content = b"cos\npath\n."
    if path_is_harmless:
        assert admitted.read(content) == Path(".")
        return
    with pytest.raises(pickle.UnpicklingError, match="not admitted"):
        admitted.read(content)
    with pytest.raises((pickle.PicklingError, pickle.UnpicklingError, TypeError)):
        admitted.read(admitted.written(value))


def test_functions_of_numpy_that_operations_keep_are_written_and_read():
    assert admitted.read(admitted.written(np.maximum)) is np.maximum
    with pytest.raises(pickle.PicklingError):
        admitted.written(np.frompyfunc(print, 1, 1))


def test_names_inside_modules_are_not_looked_up():
    for content in (
        b"ctheano.rewriting.disk.own_folders\nos\n.",
        b"ctheano.link.native.build.compiler\nsubprocess.Popen\n.",
        b"cpytensor.link.c.op\nExternalCOp\n.",
        b"cpytensor.compile.ops\nFromFunctionOp\n.",
        b"ctheano.rewriting.disk.own_folders\nread_own\n.",
    ):
        with pytest.raises(pickle.UnpicklingError, match="not admitted"):
            admitted.read(content)


def test_nothing_is_left_when_a_write_fails(cache, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        write_sealed(cache / "graphs", "graph-1", b"content")
    assert names(cache / "graphs") == []


def test_leftovers_of_processes_that_are_no_more_are_removed(tmp_path):
    code = f"""
import os, sys
from pathlib import Path
from theano.rewriting.disk.building_folders import make_building_folder
made = make_building_folder(Path({str(tmp_path)!r}))
(made.path / "text.c").write_text("int a;")
print(made.path, flush=True)
sys.stdin.read()
"""
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    with subprocess.Popen([sys.executable, "-c", code], **options) as living:
        path = Path(living.stdout.readline().strip())
        old = path.stat().st_mtime - 10 * building_folders.SECONDS_TO_HOLD
        os.utime(path, (old, old))
        building_folders.remove_leftovers(tmp_path)
        assert path.exists()
        living.send_signal(signal.SIGKILL)
        living.wait()
        os.utime(path)
        building_folders.remove_leftovers(tmp_path)
        # so young that its process may not hold it yet
        assert path.exists()
        os.utime(path, (old, old))
        with building_folder(tmp_path) as own:
            assert not path.exists() and own.exists()
        assert names(tmp_path) == []


def test_a_process_looks_for_leftovers_once(tmp_path):
    with building_folder(tmp_path):
        pass
    left = tmp_path / f"{PREFIX}old"
    left.mkdir()
    os.utime(left, (0, 0))
    make_building_folder(tmp_path).remove()
    assert names(tmp_path) == [left.name]
    building_folders.remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_a_loop_that_is_compiled_behind_all_else_is_not_waited_for(cache, tmp_path, monkeypatch):
    """On a busy machine what was started at low priority hardly runs."""
    tools = tmp_path / "tools"
    tools.mkdir()
    nice = tools / "nice"
    nice.write_text("#!/bin/sh\nsleep 3000\n")
    nice.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("theano.link.native.build.compiler.cores", lambda: 2)
    assert compile_something() == []
    assert not objects._running
    assert all(is_sealed(path) for path in (cache / "native").iterdir())


def run_tool(name: str, count: int, folder: Path) -> str:
    code = f"import theano; from tests_scan_grad.disk.{name} import main; raise SystemExit(main({count}, 0))"
    done = run_python(code, THEANO_FLAGS=f"base_compiledir={folder}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_damaged_files_change_no_result(tmp_path, request):
    count = request.config.getoption("--damaged-files")
    assert "0 wrong" in run_tool("cache_corruption", count, tmp_path / "new").splitlines()[-1]


def test_killed_processes_leave_nothing_behind(tmp_path, request):
    count = request.config.getoption("--killed-processes")
    assert "0 wrong" in run_tool("cache_kills", count, tmp_path / "new").splitlines()[-1]
