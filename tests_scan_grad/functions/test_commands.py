"""``theano-cache`` and ``theano-nose``; files of flags in UTF-8; flags that change nothing."""

import pytest

import theano
from tests_scan_grad.fresh_process import ROOT, printed_by, run_python

CACHE = "import sys; from theano.commands.cache import main; sys.exit(main({}))"


def test_commands_are_installed():
    text = (ROOT / "pyproject.toml").read_text()
    assert 'theano-cache = "theano.commands.cache:main"' in text
    assert 'theano-nose = "theano.commands.nose:main"' in text


def test_the_cache_is_listed_cleared_and_purged(tmp_path):
    flags = {"THEANO_FLAGS": f"base_compiledir={tmp_path}"}
    (folder,) = printed_by(CACHE.format([]), **flags)
    assert folder.startswith(str(tmp_path))
    printed_by(
        "import theano.tensor as T, theano; x = T.vector(); theano.function([x], x + 1)", **flags
    )
    listed = printed_by(CACHE.format(["list"]), **flags)
    assert listed[0].startswith(f"{tmp_path}/native: ") and " 0 files" not in listed[0]
    printed_by(CACHE.format(["clear"]), **flags)
    assert printed_by(CACHE.format(["list"]), **flags)[0].startswith(f"{tmp_path}/native: 0 files")
    printed_by(CACHE.format(["purge"]), **flags)
    assert not (tmp_path / "native").exists()
    assert printed_by(CACHE.format(["basecompiledir"]), **flags) == [str(tmp_path)]


def test_unknown_commands_of_the_cache_are_refused():
    done = run_python(CACHE.format(["empty"]))
    assert done.returncode == 1 and 'command "empty" not recognized' in done.stderr
    assert "theano-cache clear" in "\n".join(printed_by(CACHE.format(["help"])))


def test_nose_runs_tests_by_pytest(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_one(): assert True")
    command = f"from theano.commands.nose import main; print(main(['--nocapture', '--batch=5', '-q', '{tmp_path}']))"
    assert "1 passed" in (printed := "\n".join(printed_by(command))) and printed.endswith("0")
    (tmp_path / "test_one.py").write_text("def test_one(): assert False")
    assert printed_by(command)[-1] == "1"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_files_of_flags_are_utf_8_in_any_locale(tmp_path, mark):
    path = tmp_path / "theanorc"
    path.write_bytes(mark + "[global]\n# größer als früher\nfloatX = float32\n".encode())
    code = "import theano; print(theano.config.floatX)"
    assert printed_by(code, path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0") == [
        "float32"
    ]


@pytest.mark.parametrize("mode", ["ProfileMode", "PROFILE_MODE", "FAST_RUN2", "fast run", None, 3])
def test_unknown_modes_are_errors_at_assignment(mode):
    before = theano.config.mode
    with pytest.raises((ValueError, TypeError)):
        theano.config.mode = mode
    assert theano.config.mode == before
    with pytest.raises((ValueError, TypeError)), theano.config.change_flags(mode=mode):
        pass


def test_mode_of_profiles_says_what_took_its_place():
    with pytest.raises(ValueError, match="profile=True"):
        theano.config.mode = "ProfileMode"
    done = run_python("import theano", THEANO_FLAGS="mode=FAST_RUNN")
    assert done.returncode == 1 and "FAST_RUN" in done.stderr


def test_flags_that_the_engine_does_not_heed_warn_once():
    code = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    import theano\n"
        "    theano.config.openmp = True; theano.config.openmp = False; theano.config.openmp = True\n"
        "print(*sorted(str(w.message) for w in seen), sep='\\n')"
    )
    cxxflags, openmp = printed_by(code, THEANO_FLAGS="gcc.cxxflags=-O3")
    assert cxxflags.startswith("The flag gcc.cxxflags=-O3 has no effect") and "CC" in cxxflags
    assert openmp.startswith("The flag openmp=True has no effect") and "OMP_NUM_THREADS" in openmp
