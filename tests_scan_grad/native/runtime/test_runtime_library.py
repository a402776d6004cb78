"""The library of the C runtime: how it is built, stored and found again."""

import subprocess
import sys

import pytest

from theano.link.native.runtime import build, load
from theano.rewriting.disk.sealed_files import is_sealed
from theano.rewriting.disk.sealing import opened, seal_of


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A cache folder with a library in it, and the compiler that made it."""
    compiler = build.find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("built")
    load.build(folder, compiler)
    (path,) = folder.iterdir()
    return folder, compiler, path


@pytest.fixture
def builds(built, monkeypatch):
    """One item for each time that the runtime would be compiled again."""
    found = []

    def copy(compiler, made):
        found.append(1)
        made.write_bytes(opened(built[2].read_bytes(), built[2].name))

    monkeypatch.setattr(load, "compile_library", copy)
    return found


def test_a_library_is_found_again(built, builds, tmp_path, monkeypatch):
    folder, _, path = built
    assert load._load([tmp_path], folder)._name == str(path)
    monkeypatch.setenv("CC", "no-such-compiler")
    assert load._load([tmp_path], folder)._name == str(path)
    assert not builds and list(folder.iterdir()) == [path]


def copied_as(path, folder, name):
    """A copy of a library that is sealed under another name."""
    content = opened(path.read_bytes(), path.name)
    copy = folder / name
    copy.write_bytes(content + seal_of(content, name))
    return copy


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other-name", "foreign"])
def test_a_damaged_library_is_built_again(built, builds, tmp_path, damage):
    _folder, _, path = built
    copied, whole = tmp_path / path.name, path.read_bytes()
    if damage == "foreign":
        foreign = tmp_path / "foreign.so"
        run_compiler = [*build.find_compiler(), "-shared", "-x", "c", "/dev/null", "-o", foreign]
        subprocess.run(run_compiler, check=True)
        content = foreign.read_bytes()
        copied.write_bytes(content + seal_of(content, path.name))
    else:
        copied.write_bytes(
            {
                "empty": b"",
                "cut": whole[: len(whole) // 2],
                "flipped": whole[:-1] + bytes([whole[-1] ^ 1]),
                "other-name": copied_as(path, tmp_path, "runtime-other.so").read_bytes(),
            }[damage]
        )
    assert load._load([tmp_path / "nothing"], tmp_path).tn_max_threads() >= 1
    assert builds == [1] and is_sealed(copied)


def test_the_installed_library_is_used_while_its_sources_are_the_same(built, tmp_path):
    _, _, path = built
    cache, installed = path.parent, tmp_path / build.library_name("installed")
    copied_as(path, tmp_path, "runtime-0123456789-installed.so")
    assert load._load([tmp_path], cache)._name == str(path)
    copied_as(path, tmp_path, installed.name)
    assert load._load([tmp_path], cache)._name == str(installed)


def test_a_cache_folder_that_cannot_be_written_does_not_stop_the_load(tmp_path, monkeypatch):
    if build.find_compiler() is None:
        pytest.skip("no C compiler")
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS[:1], "-O1", *build.FLAGS[2:]))
    assert load._load([tmp_path], in_the_way / "native").tn_max_threads() >= 1


def test_no_compiler_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    # as where the extra [compiler] is not installed
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with pytest.raises(load.NoCompiler, match="apt install gcc"):
        load._load([tmp_path], tmp_path)


def test_a_compiler_that_fails_is_quoted(tmp_path, monkeypatch):
    compiler = build.find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    monkeypatch.setattr(build, "FLAGS", ("--no-such-flag",))
    with pytest.raises(build.BuildError, match="no-such-flag"):
        build.compile_library(compiler, tmp_path / "library.so", build.FLAGS)
