"""Differences in how Windows and macOS treat files, simulated on any system."""

import os
import subprocess
import sys

import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import ROOT
from theano.flags.sources import parse_config_string
from theano.link.native.build import libraries
from theano.link.native.runtime.build import find_compiler
from theano.profile.__main__ import peak_bytes
from theano.rewriting.disk import sealed_files
from theano.rewriting.disk.sealed_files import is_sealed, read_sealed, write_sealed

# names of devices, which no file may have on Windows
DEVICES = {"aux", "con", "nul", "prn"}


def paths_of_the_package():
    return [path.relative_to(ROOT) for path in (ROOT / "theano").rglob("*")]


def test_names_of_files_do_not_differ_by_case_alone():
    names = [str(path).lower() for path in paths_of_the_package()]
    assert len(names) == len(set(names))


def test_names_of_files_are_ones_that_windows_takes():
    for path in paths_of_the_package():
        assert path.stem not in DEVICES and not set('<>:"|?*\\') & set(str(path)), path
        assert len(str(path)) < 120, path


def test_a_library_is_sealed_as_a_copy_where_loaded_ones_cannot_be_written(monkeypatch, tmp_path):
    if find_compiler() is None:
        pytest.skip("no C compiler")
    monkeypatch.setattr(sealed_files, "LOADED_FILES_MAY_GROW", False)
    monkeypatch.setattr(libraries, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(theano.config.native, "compiler", "cc")
    x = T.vector("x")
    f = theano.function([x], [T.exp(x) * 3.125, x[::-1].cumsum()], mode="NATIVE")
    assert f([0.0, 0.0])[0].tolist() == [3.125, 3.125]
    made = list(tmp_path.glob("program-*"))
    assert made and all(map(is_sealed, made))
    assert not list(tmp_path.rglob("*.sealed"))


def test_a_file_that_another_process_has_loaded_is_left_as_it_is(monkeypatch, tmp_path):
    folder = tmp_path / "cache"
    write_sealed(folder, "kept", b"content")

    def refused(source, target):
        raise PermissionError(13, "Access is denied", str(target))

    monkeypatch.setattr(os, "replace", refused)
    write_sealed(folder, "kept", b"content")
    assert read_sealed(folder / "kept") == b"content"
    with pytest.raises(PermissionError):
        write_sealed(folder, "other", b"content")


COMPILES = """
import theano, theano.tensor as T
from theano.link.native.build import libraries
x = T.vector("grün")
f = theano.function([x], T.exp(x), name="straße", mode="NATIVE")
print(f([0.0]), libraries.cache_folder().is_dir(), len(list(libraries.cache_folder().iterdir())) > 0)
"""


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_paths_may_have_spaces_and_other_letters(locale, tmp_path):
    """Also where Python takes ASCII for the encoding of files, as Windows takes a code page."""
    if find_compiler() is None:
        pytest.skip("no C compiler")
    folder = tmp_path / "mit Leerzeichen und ü"
    temporary = folder / "temporär"
    temporary.mkdir(parents=True)
    script = folder / "größe.py"
    script.write_text(COMPILES, encoding="utf-8")
    environment = os.environ | {
        "LC_ALL": locale,
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(temporary),
        "THEANO_FLAGS": f"base_compiledir='{folder / 'cache'}',native.compiler=cc",
        "THEANORC": os.devnull,
    }
    command = [sys.executable, str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8")
    assert done.stdout.split() == ["[1.]", "True", "True"], done.stderr
    assert list(temporary.iterdir()) == []


def test_backslashes_in_flags_are_those_of_paths_where_these_have_them(monkeypatch):
    monkeypatch.setattr(os, "sep", "\\")
    assert parse_config_string(r"base_compiledir=C:\new folder,x=1") == {
        "base_compiledir": r"C:\new folder",
        "x": "1",
    }


def test_the_peak_of_memory_is_that_of_python():
    assert 10**7 < peak_bytes() < 10**12
