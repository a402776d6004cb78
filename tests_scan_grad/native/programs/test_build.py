"""Compiled programs are cached; a damaged entry is built again; a bad folder does not matter."""

from dataclasses import replace

import pytest

from tests_scan_grad.disk.damaged_files import put
from theano.link.native.build import compiler, libraries, objects
from theano.link.native.build.compiler_flags import FLAGS
from theano.link.native.build.libraries import build_of
from theano.link.native.build.objects import compile_ahead, object_files
from theano.link.native.build.tiers import OPTIMIZED, QUICK
from theano.link.native.ir.ir import CannotLower
from theano.link.native.render.loop_code import LoopCode
from theano.link.native.render.program_text import ProgramText
from theano.rewriting.disk.sealed_files import is_sealed


def program(value: int) -> ProgramText:
    return ProgramText.of(f"int answer(void) {{ return {value}; }}\n")


def loop(value: str, name: str = "loop_tested") -> LoopCode:
    lines = [f"int {name}(void)", "{", f"return {value};", "}"]
    text = "\n".join(lines) + "\n"
    return LoopCode(name, tuple(lines), text, text, f"{lines[0]};")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for module in (libraries, objects):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(compiler, "cores", lambda: 2)
    return tmp_path / "cache"


def damaged(content: bytes) -> tuple[bytes, ...]:
    return b"", content[: len(content) // 2], content[:-1] + bytes([content[-1] ^ 1])


def test_a_program_is_compiled_once(folder):
    assert library(program(41)).answer() == 41
    (entry,) = folder.iterdir()
    written = entry.stat().st_ino
    assert library(program(41)).answer() == 41
    assert entry.stat().st_ino == written
    assert library(program(42)).answer() == 42
    assert len(list(folder.iterdir())) == 2


def test_a_damaged_program_is_built_again(folder):
    library(program(43))
    (entry,) = folder.iterdir()
    for content in damaged(entry.read_bytes()):
        put(entry, content)
        assert not is_sealed(entry)
        assert library(program(43)).answer() == 43
        assert is_sealed(entry)


def test_a_folder_that_cannot_be_written(folder):
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("a file, not a folder")
    compile_ahead([loop("44")], OPTIMIZED)
    called = ProgramText.of(f"int loop_tested(void);\n{program(0).text}", loops=(loop("44"),))
    assert library(called).loop_tested() == 44


def test_what_the_compiler_refuses_is_said(folder):
    with pytest.raises(CannotLower, match="refuses"):
        library(ProgramText.of("this is not C\n"))
    with pytest.raises(CannotLower, match="refuses"):
        object_files([loop("this is not C")], folder, OPTIMIZED)
    assert list(folder.iterdir()) == []


def test_no_compiler(folder, monkeypatch):
    monkeypatch.setattr(compiler, "find_compiler", lambda: None)
    with pytest.raises(CannotLower, match="no C compiler"):
        library(program(45))
    compile_ahead([loop("45")], OPTIMIZED)


def test_long_programs_and_loops_are_compiled_fast(folder):
    long, short = ProgramText.of("int a;\n" * 5000), program(46)
    code = loop("48")
    long_loop = replace(code, lines=code.lines + ("",) * 1000)
    assert flag_of(OPTIMIZED.flags_of_program(short)) == ["-O2"]
    assert flag_of(OPTIMIZED.flags_of_program(long)) == ["-O1"]
    assert flag_of(OPTIMIZED.flags_of_loop(code)) == ["-O2"]
    assert flag_of(OPTIMIZED.flags_of_loop(long_loop)) == ["-O1"]
    assert flag_of(QUICK.flags_of_program(short)) == ["-O0"]
    assert flag_of(QUICK.flags_of_loop(code)) == ["-Og"]
    assert library(ProgramText.of(program(47).text + "\n" * 5000)).answer() == 47


def library(code):
    """The optimized library of a program."""
    return libraries.library(build_of(code, OPTIMIZED))


def flag_of(flags):
    """Return the flags that set how much the compiler optimizes."""
    assert {*FLAGS} <= {*flags}
    return [flag for flag in flags if flag.startswith("-O")]


def test_a_loop_that_was_compiled_ahead_is_not_compiled_again(folder, monkeypatch):
    code = loop("49")
    compile_ahead([code, code], OPTIMIZED)
    compile_ahead([code], OPTIMIZED)
    started = []
    monkeypatch.setattr(objects, "_start", lambda *arguments: started.append(arguments))
    # on a busy machine what runs behind all else is started again
    monkeypatch.setattr(objects, "SECONDS_OF_PATIENCE", 300)
    (path,) = object_files([code], folder, OPTIMIZED)
    assert is_sealed(path) and [*folder.iterdir()] == [path]
    compile_ahead([code], OPTIMIZED)
    assert object_files([code], folder, OPTIMIZED) == [path]
    assert not started and not objects._running


def test_loops_that_differ_in_comments_are_one(folder):
    code = loop("50")
    renamed = replace(code, text=code.text.replace("return", "/* b */return"))
    assert object_files([code], folder, OPTIMIZED) == object_files([renamed], folder, OPTIMIZED)
    other = loop("51")
    assert object_files([code], folder, OPTIMIZED) != object_files([other], folder, OPTIMIZED)


def test_what_goes_wrong_ahead_is_said_by_who_needs_it(folder):
    code = loop("this is not C")
    compile_ahead([code], OPTIMIZED)
    with pytest.raises(CannotLower, match="refuses"):
        object_files([code], folder, OPTIMIZED)
    assert not objects._running and list(folder.iterdir()) == []


def test_a_damaged_object_is_built_again(folder):
    (path,) = object_files([loop("52")], folder, OPTIMIZED)
    for content in damaged(path.read_bytes()):
        put(path, content)
        object_files([loop("52")], folder, OPTIMIZED)
        assert is_sealed(path)


def test_only_so_many_run_ahead(folder, monkeypatch):
    monkeypatch.setattr(objects, "AHEAD_FOR_A_CORE", 1)
    codes = [loop(str(k), f"loop_{k}") for k in range(5)]
    compile_ahead(codes, OPTIMIZED)
    assert len(objects._running) == 2
    assert all(map(is_sealed, object_files(codes, folder, OPTIMIZED)))
    assert not objects._running
