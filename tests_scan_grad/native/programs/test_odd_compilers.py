"""Compilers with arguments work; one that fails or makes junk leads to Python, with one warning."""

import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import run_python
from theano.link.native import report
from theano.link.native.build import compiler, compiler_flags, objects
from theano.link.native.build import libraries as build
from theano.link.native.build.tiers import QUICK
from theano.link.native.render.c_text import all_preambles
from theano.link.native.runtime.build import accepted_flags, find_compiler, what_is_wrong_with, zig

if find_compiler() is None:
    pytest.skip("no C compiler", allow_module_level=True)
REAL = shlex.join(find_compiler())

# What stands in place of the compiler: a shell script, with {real} for the compiler, after which
# the name of what it makes is in $made.
MADE = 'for word; do [ "$last" = -o ] && made=$word; last=$word; done\n'
SCRIPTS = {
    "fails": 'echo "the licence has run out" >&2; exit 1',
    "dies": 'echo "the licence has run out" >&2; kill -9 $$',
    "makes-nothing": 'echo "the licence has run out" >&2; exit 0',
    "makes-text": 'echo "the licence has run out" | tee "$made" >&2',
    "makes-nothing-in-it": ': > "$made"; echo "the licence has run out" >&2',
    "cuts-off": '{real} "$@"; head -c 3000 "$made" > "$made.cut"; mv "$made.cut" "$made"; '
    'echo "the licence has run out" >&2',
    "makes-another": 'echo "int other;" | {real} -shared -x c - -o "$made"; '
    'echo "the licence has run out" >&2',
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and a process that has not warned of its compiler."""
    for module in (build, objects):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(compiler, "_warned_of", set())
    monkeypatch.setattr(objects, "SECONDS_OF_PATIENCE", 600)
    return tmp_path / "cache"


def script(folder: Path, text: str, name: str = "compiler") -> Path:
    """A program that stands in place of the compiler."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{MADE}{text.replace('{real}', REAL)}\n")
    path.chmod(0o755)
    return path


def cumulative(scale: float):
    """Its own loop for each number, compiled; whether it is native, and the warnings."""
    x = T.vector("x")
    sums, _ = theano.scan(lambda v, s: T.tanh(s + scale * v), [x], [T.zeros((), x.dtype)])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function = theano.function([x], sums * scale, mode="NATIVE")
    state, expected, value = 0.0, [], np.arange(3.0) / 5
    for element in value:
        state = np.tanh(state + scale * element)
        expected.append(state * scale)
    np.testing.assert_allclose(function(value), expected, rtol=1e-6)
    return bool(report(function).segments), [str(w.message) for w in seen]


@pytest.mark.parametrize("kind", SCRIPTS)
def test_python_runs_where_the_compiler_makes_nothing_of_use(cache, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("CC", str(script(tmp_path, SCRIPTS[kind])))
    native, said = cumulative(0.125)
    (warning,) = said
    assert not native and "Python runs instead" in warning
    if kind != "makes-another":
        assert "the licence has run out" in warning
    else:
        assert "cannot be loaded" in warning
    assert cumulative(0.25) == (False, [])
    monkeypatch.delenv("CC")
    assert cumulative(0.125) == (True, [])
    # what was begun ahead may go on for a while, and is put away when more is begun
    end = time.monotonic() + 60
    while time.monotonic() < end and not all(path.is_file() for path in cache.iterdir()):
        time.sleep(0.05)
        objects.compile_ahead([], QUICK)
    assert all(path.is_file() for path in cache.iterdir())


def test_a_compiler_that_cannot_be_started(cache, tmp_path, monkeypatch):
    odd = tmp_path / "compiler"
    odd.write_bytes(b"\x7fELF junk")
    odd.chmod(0o755)
    monkeypatch.setenv("CC", str(odd))
    native, (warning,) = cumulative(0.375)
    assert not native and "cannot be started" in warning and "Exec format error" in warning


def test_no_more_processes(cache, monkeypatch):
    def fail(*args, **kwargs):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(compiler.subprocess, "Popen", fail)
    native, (warning,) = cumulative(0.5)
    assert not native and "Resource temporarily unavailable" in warning
    assert not cache.exists() or not list(cache.iterdir())


@pytest.mark.parametrize("bytes_", [100, 3000])
def test_a_limit_of_the_size_of_files(cache, monkeypatch, bytes_):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, before[1]))
    try:
        native, (warning,) = cumulative(0.625 + bytes_ / 1e5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not native and "File" in warning
    assert not list(cache.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root may mount")
def test_a_full_disk_is_left_for_another_folder(cache):
    cache.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs", str(cache)]
    if subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        assert cumulative(0.875) == (True, [])
        assert not list(cache.iterdir())
    finally:
        subprocess.run(["umount", str(cache)], check=True)


def test_a_command_with_arguments(cache, tmp_path, monkeypatch):
    ccache = script(tmp_path, 'echo "$1" >> "$0.log"; exec "$@"', "ccache")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CC", f"ccache {REAL} -DONE='1 + 1'")
    assert find_compiler() == (str(ccache), *shlex.split(REAL), "-DONE=1 + 1")
    assert cumulative(0.75) == (True, [])
    assert Path(f"{ccache}.log").read_text().startswith(shlex.split(REAL)[0])


REFUSED = "-fvect-cost-model=dynamic"


def test_a_flag_that_a_compiler_does_not_know_is_left_out(cache, tmp_path, monkeypatch):
    refuses = f'case " $* " in *" {REFUSED} "*) echo "unknown option" >&2; exit 1;; esac'
    odd = script(tmp_path, f'{refuses}; echo "$@" >> "$0.log"; exec {{real}} "$@"')
    monkeypatch.setenv("CC", str(odd))
    assert cumulative(0.78125) == (True, [])
    assert "-fno-math-errno" in Path(f"{odd}.log").read_text()
    version = compiler._version((str(odd),))
    # clang refuses others itself
    known = accepted_flags(tuple(shlex.split(REAL)), compiler_flags.OPTIONAL) or ()
    # what a compiler takes is kept on disk, for this version of it
    for _ in range(2):
        compiler_flags._known_optional.cache_clear()
        accepted_flags.cache_clear()
        asked = Path(f"{odd}.log").stat().st_size
        found = compiler_flags.without_unknown(
            ["-O2", *compiler_flags.OPTIONAL], (str(odd),), version
        )
        assert found == ["-O2", *(flag for flag in known if flag != REFUSED)]
        assert Path(f"{odd}.log").stat().st_size == asked
    assert compiler_flags.without_unknown([REFUSED], (str(odd),), "2") == []
    assert Path(f"{odd}.log").stat().st_size > asked


def test_zig_is_used_where_it_is_installed_and_nothing_else_is(tmp_path, monkeypatch):
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").write_text("")
    zig = script(package, 'shift; exec {real} "$@"', "zig")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("CC", raising=False)
    assert find_compiler() != (str(zig), "cc")
    monkeypatch.setenv("PATH", str(package / "nothing"))
    assert find_compiler() == (str(zig), "cc")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert find_compiler() is None


@pytest.mark.parametrize("processor", ["x86_64", "x86_64_v3", "x86_64_v4"])
def test_what_stands_before_programs_compiles_with_zig(tmp_path, processor):
    command = zig()
    if command is None:
        pytest.skip("Zig is not installed")
    (tmp_path / "text.c").write_text(all_preambles())
    target = ["-target", "x86_64-linux-gnu", f"-march={processor}", "-std=gnu11", "-w"]
    made = ["-c", str(tmp_path / "text.c"), "-o", str(tmp_path / "text.o")]
    done = subprocess.run([*command, *target, *made], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_a_path_with_spaces(cache, tmp_path, monkeypatch):
    folder = tmp_path / "my tools"
    folder.mkdir()
    monkeypatch.setenv("CC", str(script(folder, 'exec {real} "$@"')))
    assert cumulative(0.8125) == (True, [])


@pytest.mark.skipif(compiler.linker() is None, reason="no linker is called by its name")
@pytest.mark.parametrize(
    "makes",
    [
        'echo "no such option" >&2; exit 1',
        'echo "not a library" > "$made"',
        # it asks for a function that nothing has
        'echo "int lacks(void); int asks(void) { return lacks(); }" > "$0.c"; '
        '{real} -c -fPIC "$0.c" -o "$0.o"; ld "$@" -z now "$0.o"',
        # it has nothing of what was compiled
        'echo "int other;" | {real} -shared -x c - -o "$made"',
    ],
    ids=["refuses", "text", "lacks", "another"],
)
def test_where_the_linker_is_of_no_use_the_compiler_links(cache, tmp_path, monkeypatch, makes):
    folder = tmp_path / "tools"
    folder.mkdir()
    linker = script(folder, f'echo linked >> "$0.log"; {makes}', "ld")
    monkeypatch.setattr(compiler, "linker", lambda: str(linker))
    with theano.config.change_flags(**{"native.quick": True}):
        assert cumulative(0.8125) == cumulative(0.9375) == (True, [])
    # it is tried once
    assert Path(f"{linker}.log").read_text() == "linked\n"


def test_without_a_linker_the_compiler_links(cache, monkeypatch):
    monkeypatch.setattr(compiler, "linker", lambda: None)
    with theano.config.change_flags(**{"native.quick": True}):
        assert cumulative(0.84375) == (True, [])


@pytest.mark.parametrize("command", ["no-such-compiler", "'unbalanced", ""])
def test_a_command_that_is_none(monkeypatch, command):
    monkeypatch.setenv("CC", command)
    assert (find_compiler() is None) == bool(command)


def test_compilers_that_differ_do_not_share_a_cache(monkeypatch, tmp_path):
    names = set()
    for text in ('exec {real} "$@"', ' exec {real} "$@"'):
        wrapper = script(tmp_path, text)
        compiler._version.cache_clear()
        for command in (str(wrapper), f"{wrapper} -m64", f"env {wrapper}"):
            monkeypatch.setenv("CC", command)
            names.add(compiler.name_of("int a;", ()))
    assert len(names) == 6


def test_a_runtime_that_cannot_be_compiled(tmp_path):
    code = f"""
import warnings, theano, theano.tensor as T
x = T.vector("x")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for power in (2, 3):
        f = theano.function([x], T.tanh(x) ** power, mode="NATIVE")
        assert abs(f([1.0])[0] - 0.7615941559557649**power) < 1e-12
{chr(10)}messages = [str(w.message) for w in seen]
assert len(messages) == 1 and "the licence has run out" in messages[0], messages
"""
    script(tmp_path, SCRIPTS["fails"])
    flags = f"base_compiledir={tmp_path / 'cache'}"
    done = run_python(code, CC=str(tmp_path / "compiler"), THEANO_FLAGS=flags)
    if "assert len(messages) == 1" in done.stderr and "[]" in done.stderr:
        pytest.skip("the runtime is installed with the package")
    assert done.returncode == 0, done.stderr
    assert all(path.is_file() for path in (tmp_path / "cache" / "native").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="the format is Linux'")
def test_a_library_that_is_cut_off_is_seen(tmp_path):
    made = tmp_path / "made.so"
    subprocess.run(
        [*find_compiler(), "-shared", "-x", "c", "-", "-o", made], input=b"int a;", check=True
    )
    assert not what_is_wrong_with(made)
    whole = made.read_bytes()
    for size in (0, 3, 40, 64, 1000, len(whole) // 2, len(whole) - 1):
        made.write_bytes(whole[:size])
        assert what_is_wrong_with(made)
    assert what_is_wrong_with(tmp_path / "nothing") == "nothing"
    shutil.copy(__file__, made)
    assert what_is_wrong_with(made) == "no machine code"
