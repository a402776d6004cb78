"""Compiled loops are cached; a damaged entry is built again; a bad folder does not matter."""

import os
from pathlib import Path

import pytest

from theano.link.native import build
from theano.link.native.ir import CannotLower
from theano.link.native.runtime.build import is_whole

SOURCE = "int answer(void) { return %d; }\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_a_library_is_compiled_once(folder):
    assert build.library(SOURCE % 41).answer() == 41
    (entry,) = folder.iterdir()
    written = entry.stat().st_mtime_ns
    assert build.library(SOURCE % 41).answer() == 41
    assert entry.stat().st_mtime_ns == written
    assert build.library(SOURCE % 42).answer() == 42
    assert len(list(folder.iterdir())) == 2


def test_a_damaged_entry_is_built_again(folder):
    folder.mkdir()
    build.library(SOURCE % 43)
    (entry,) = folder.iterdir()
    content = entry.read_bytes()
    for damaged in (b"", content[: len(content) // 2], content[:-1] + bytes([content[-1] ^ 1])):
        replacement = Path(f"{entry}.damaged")
        replacement.write_bytes(damaged)
        os.replace(replacement, entry)
        assert not is_whole(entry)
        assert build.library(SOURCE % 43).answer() == 43
        assert is_whole(entry)


def test_a_folder_that_cannot_be_written(folder):
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("a file, not a folder")
    assert build.library(SOURCE % 44).answer() == 44


def test_what_the_compiler_refuses_is_said(folder):
    with pytest.raises(CannotLower, match="refuses"):
        build.library("this is not C\n")
    assert list(folder.iterdir()) == []


def test_no_compiler(folder, monkeypatch):
    monkeypatch.setattr(build, "find_compiler", lambda: None)
    with pytest.raises(CannotLower, match="no C compiler"):
        build.library(SOURCE % 45)


def test_long_programs_are_compiled_fast(folder):
    short, long = "int a;\n", "int a;\n" * 5000
    assert "-O2" in build.flags_for(short) and "-O1" not in build.flags_for(short)
    assert "-O1" in build.flags_for(long) and "-O2" not in build.flags_for(long)
    assert set(build.FLAGS) == {*build.flags_for(short)} & {*build.flags_for(long)}
    assert build.library("int tn_answer(void) { return 42; }\n" + "\n" * 5000).tn_answer() == 42
