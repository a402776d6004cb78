"""Flags: where they come from, which source wins, what is refused, what reaches PyTensor."""

import copy
import warnings

import pytensor
import pytest

import theano
from tests_scan_grad.fresh_process import printed_by, run_python
from theano.configparser import TheanoConfigWarning, parse_config_string

SHOW = "import theano; print(theano.config.scan.save, theano.config.floatX)"


@pytest.fixture
def theanorc(tmp_path):
    path = tmp_path / "theanorc"
    path.write_text("[global]\nfloatx = float32\n\n[scan]\nsave = all\n")
    return path


def test_defaults():
    assert printed_by(SHOW) == ["auto float64"]


def test_file_of_flags(theanorc):
    assert printed_by(SHOW, theanorc) == ["all float32"]


def test_environment_wins_over_file(theanorc):
    assert printed_by(SHOW, theanorc, THEANO_FLAGS="scan.save=none") == ["none float32"]


def test_assignment_wins_over_environment():
    code = "import theano; theano.config.scan.save = 'all'; print(theano.config.scan.save)"
    assert printed_by(code, THEANO_FLAGS="scan.save=none") == ["all"]


def test_later_file_wins(tmp_path, theanorc):
    second = tmp_path / "second"
    second.write_text("[scan]\nsave = none\n")
    assert printed_by(SHOW, THEANORC=f"{theanorc}:{second}") == ["none float32"]


def test_home_directory_is_read_without_theanorc(tmp_path):
    (tmp_path / ".theanorc").write_text("[scan]\nsave = all\n")
    code = f"import os; del os.environ['THEANORC']; {SHOW}"
    assert printed_by(code, HOME=str(tmp_path)) == ["all float64"]


def test_file_may_refer_to_the_environment(tmp_path):
    path = tmp_path / "theanorc"
    path.write_text("[global]\nbase_compiledir = %(TMPDIR)s/compiled\n")
    code = "import theano; print(theano.config.base_compiledir)"
    assert printed_by(code, path, TMPDIR=str(tmp_path)) == [f"{tmp_path}/compiled"]


def test_pytensor_is_given_only_what_was_set():
    code = (
        "import theano, pytensor, os; c = pytensor.config\n"
        "print(c.floatX, c.gcc__cxxflags, c._config_var_dict['cast_policy'].is_default)\n"
        "print(os.environ['PYTENSOR_FLAGS'])"
    )
    flags = "floatX=float32,gcc.cxxflags='-O2 -g,-pipe'"
    mine = "exception_verbosity=high"
    assert printed_by(code, THEANO_FLAGS=flags, PYTENSOR_FLAGS=mine) == [
        "float32 -O2 -g,-pipe True",
        mine,
    ]


def test_pytensors_own_flag_is_read():
    assert printed_by(SHOW, PYTENSOR_FLAGS="floatX=float16") == ["auto float16"]


def test_flag_that_comes_too_late_for_pytensor_warns(tmp_path):
    code = "import pytensor, theano"
    done = run_python(code, THEANO_FLAGS=f"base_compiledir={tmp_path / 'late'},floatX=float32")
    assert done.returncode == 0
    assert "base_compiledir" in done.stderr and "import theano before pytensor" in done.stderr
    assert "floatX" not in done.stderr


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("flotX=float32", ["THEANO_FLAGS", "'flotX'", "did you mean 'floatX'?"]),
        ("save=all", ["'save'", "did you mean 'scan.save'?"]),
        ("floatX=float23", ["THEANO_FLAGS", '"floatX"', "float23", "did you mean 'float32'?"]),
        ("scan.push_out_memory=-1", ["scan.push_out_memory", "float >= 0"]),
        ("scan.allow_gc=yes", ["scan.allow_gc", "True and False"]),
        ("device=gqu", ["device", "gqu", "cpu, cuda, xla:cpu"]),
    ],
)
def test_wrong_environment_is_an_error_that_names_the_nearest(flags, expected):
    done = run_python("import theano", THEANO_FLAGS=flags)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ValueError")
    for part in expected:
        assert part in last


def test_wrong_file_is_an_error_that_names_the_file(tmp_path):
    path = tmp_path / "theanorc"
    path.write_text("[scan]\nsafe = all\n")
    done = run_python("import theano", path)
    assert f"ValueError: {path}: no flag 'scan.safe'; did you mean 'scan.save'?" in done.stderr


@pytest.mark.parametrize("flags", ["floatX='float32", 'floatX="float32,scan.save=all', "a=b\\"])
def test_a_quotation_mark_that_is_not_closed_is_said_to_be_of_the_flags(flags):
    done = run_python("import theano", THEANO_FLAGS=flags)
    said = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert said.startswith("ValueError: THEANO_FLAGS: no ") and repr(flags) in said


BROKEN_FILES = {
    "before-sections": (b"floatX = float32\n", 1, "expected a section such as [global]"),
    "no-value": (b"[global]\nfloatX\n", 2, "'floatX'; expected a section"),
    "half-a-section": (b"\n[global\nfloatX = float32\n", 2, "'[global'; expected a section"),
    "twice": (b"[scan]\nsave = all\nsave = none\n", 3, "save is set twice in [scan]"),
    "section-twice": (b"[scan]\n[global]\n[scan]\n", 3, "the section [scan] is there twice"),
    "not-text": (b"[global]\nfloatX = \xff\xfe\n", 2, "not text in UTF-8"),
}


@pytest.mark.parametrize(("content", "line", "expected"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_a_file_that_cannot_be_read_is_an_error_with_file_and_line(
    content, line, expected, tmp_path
):
    path = tmp_path / "theanorc"
    path.write_bytes(content)
    done = run_python("import theano", path)
    said = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert said.startswith(f"configparser.Error: {path}, line {line}: ") and expected in said


def test_a_process_that_unpickles_a_function_has_the_flags(tmp_path):
    flags = f"floatX=float32,base_compiledir={tmp_path / 'compiled'}"
    made = tmp_path / "function"
    code = f"""
import pickle, theano, theano.tensor as T
from pathlib import Path
x, w = T.dvector("x"), theano.shared(2.0, "w")
functions = [theano.function([x], x * w, mode=mode) for mode in (None, "FAST_COMPILE", "DebugMode")]
with_default = theano.function([theano.In(x, value=[1.0])], x + w)
Path({str(made)!r}).write_bytes(pickle.dumps([*functions, with_default]))
"""
    assert printed_by(code) == []
    code = f"""
import pickle, sys
with open({str(made)!r}, "rb") as file:
    functions = pickle.load(file)
config = sys.modules["theano"].config
print(config.floatX, config.base_compiledir)
print([f([3.0]).tolist() for f in functions])
"""
    done = run_python(code, THEANO_FLAGS=flags)
    assert done.stderr == ""
    expected = f"float32 {tmp_path / 'compiled'}\n[[6.0], [6.0], [6.0], [5.0]]\n"
    assert done.stdout == expected


def test_a_program_adds_flags_that_the_user_sets(tmp_path):
    path = tmp_path / "theanorc"
    path.write_text("[mine]\nkind = round\n")
    code = """
from theano import config
from theano.configparser import THEANO_FLAGS_DICT, AddConfigVar, BoolParam, EnumStr, IntParam
AddConfigVar("mine.size", "A size.", IntParam(3, lambda size: size > 0), in_c_key=False)
AddConfigVar("mine.kind", "A kind.", EnumStr("flat", "round"))
AddConfigVar("mine.here", "A booleans.", BoolParam(lambda: True))
config.mine.here = "False"
print(config.mine.size, config.mine.kind, config.mine.here, THEANO_FLAGS_DICT)
for name, param in (("mine.other", IntParam("none")), ("mine.size", IntParam(1))):
    try:
        AddConfigVar(name, "", param)
    except (AttributeError, ValueError) as error:
        print(type(error).__name__)
"""
    done = run_python(code, path, THEANO_FLAGS="mine.size=5")
    assert done.stdout.split("\n")[:3] == ["5 round False {}", "ValueError", "AttributeError"]
    assert "does not recognise the flag 'mine.size'" in done.stderr


def test_unknown_flag_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'flotX'; did you mean 'floatX'"):
        _ = theano.config.flotX
    with pytest.raises(AttributeError, match="'scan.sav'; did you mean 'scan.save'"):
        theano.config.scan.sav = "all"
    assert not hasattr(theano.config, "no_such_flag")
    assert not hasattr(theano.config.scan, "no_such_flag")


def test_invalid_assignment_is_a_value_error_and_changes_nothing():
    before = theano.config.scan.save
    with pytest.raises(ValueError, match="valid values are 'auto', 'all', 'none'"):
        theano.config.scan.save = "some"
    assert theano.config.scan.save == before


def test_a_number_above_the_greatest_is_refused():
    with pytest.raises(ValueError, match="expected int from 0 to 2"):
        theano.config.DebugMode.check_strides = 3


def test_flag_fixed_at_import_cannot_be_assigned():
    with pytest.raises(AttributeError, match="THEANO_FLAGS=base_compiledir="):
        theano.config.base_compiledir = "/elsewhere"
    with pytest.raises(AttributeError, match="after initialization"):
        theano.config.device = "cuda"


def test_forwarded_flag_is_pytensors():
    with theano.config.change_flags(floatX="float32"):
        assert pytensor.config.floatX == "float32"
    with pytensor.config.change_flags(floatX="float16"):
        assert theano.config.floatX == "float16"
    assert theano.config.floatX == pytensor.config.floatX


def test_every_forwarded_flag_exists_in_pytensor():
    missing = [
        flag.name
        for flag in theano.config.flags.values()
        if flag.pytensor and flag.pytensor not in pytensor.config._config_var_dict
    ]
    assert missing == []


def test_mutability_agrees_with_pytensor():
    theirs = pytensor.config._config_var_dict
    wrong = [
        flag.name
        for flag in theano.config.flags.values()
        if flag.pytensor and flag.mutable != theirs[flag.pytensor].mutable
    ]
    assert wrong == []


def test_own_flags_do_not_reach_pytensor():
    before = pytensor.config.mode
    with theano.config.change_flags(mode="FAST_COMPILE", optimizer="fast_compile", linker="py"):
        assert pytensor.config.mode == before
        assert pytensor.config.optimizer == "o4"


def test_change_flags_restores_also_after_an_error():
    before = theano.config.scan.save
    with pytest.raises(ZeroDivisionError), theano.change_flags({"scan.save": "all"}):
        assert theano.config.scan.save == "all"
        _ = 1 / 0
    assert theano.config.scan.save == before


def test_change_flags_undoes_what_it_set_when_a_later_one_fails():
    before = theano.config.scan.save
    with pytest.raises(ValueError), theano.change_flags({"scan.save": "all", "floatX": "float7"}):
        pass
    assert theano.config.scan.save == before


def test_change_flags_decorates_and_nests():
    @theano.config.change_flags(scan__save="none")
    def inner(depth):
        assert theano.config.scan.save == "none"
        return depth if depth == 0 else inner(depth - 1)

    before = theano.config.scan.save
    assert inner(2) == 0
    assert theano.config.scan.save == before


def test_change_flags_refuses_an_unknown_flag():
    with pytest.raises(AttributeError, match="did you mean"):
        theano.change_flags(scan__sav="all")


def test_flag_without_effect_warns_once_and_keeps_its_value():
    code = (
        "import warnings, theano\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    theano.config.nvcc.fastmath = True\n"
        "    theano.config.nvcc.fastmath = True\n"
        "print(theano.config.nvcc.fastmath, len(seen), seen[0].message)"
    )
    (line,) = printed_by(code)
    assert line.startswith("True 1 The flag nvcc.fastmath=True has no effect")


def test_old_file_of_flags_imports(tmp_path):
    path = tmp_path / "theanorc"
    path.write_text(
        "[global]\ndevice = gpu\nfloatX = float32\n[nvcc]\nfastmath = True\n[lib]\ncnmem = 0.8\n"
        "[warn]\nsubtensor_merge_bug = False\n"
    )
    done = run_python("import theano; print(theano.config.lib.cnmem)", path)
    assert done.returncode == 0 and done.stdout.strip() == "0.8"
    assert done.stderr.count("has no effect") == 3


def test_device_cpu_is_silent():
    done = run_python("import theano; print(theano.config.device)", THEANO_FLAGS="device=cpu")
    assert done.stdout.strip() == "cpu" and done.stderr == ""


def test_forced_device_that_is_missing_is_an_error():
    for device in ("cuda99", "gpu"):
        done = run_python("import theano", THEANO_FLAGS=f"device={device},force_device=True")
        assert done.returncode != 0
        # without JAX the message is another
        assert device in done.stderr or "theano-scan[gpu]" in done.stderr


def test_print_lists_every_flag():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # PyTensor's, about the BLAS it finds
        listed = str(theano.config)
    for name in theano.config.flags:
        assert f"{name} (" in listed
    assert dir(theano.config.scan) == sorted(
        name.removeprefix("scan.") for name in theano.config.flags if name.startswith("scan.")
    )


def test_parse_config_string():
    assert parse_config_string("a=1,b.c='x,y' , a=2") == {"a": "2", "b.c": "x,y"}
    with pytest.warns(TheanoConfigWarning, match="'d' has no value"):
        assert parse_config_string("d") == {}


def test_a_program_that_goes_through_all_flags_reads_and_sets_them():
    # PyMC3 sets the flags of `Model(theano_config=...)` so, and restores them when the block ends
    variables = {v.fullname: v for v in theano.configparser._config_var_list}
    assert {"floatX", "compute_test_value", "scan.allow_gc"} <= set(variables)
    variable = variables["compute_test_value"]
    assert variable.__get__(True, None) == "off" and variable.doc
    variable.__set__(None, "ignore")
    assert theano.config.compute_test_value == "ignore"
    variable.__set__(None, "off")
    with pytest.raises(ValueError, match="compute_test_value"):
        variable.__set__(None, "sometimes")
    assert theano.config.compute_test_value == "off"


def test_flags_added_later_are_among_all_flags():
    theano.configparser.AddConfigVar("added_for_a_list", "doc", theano.configparser.IntParam(3))
    [variable] = [
        v for v in theano.configparser._config_var_list if v.fullname == "added_for_a_list"
    ]
    assert variable.__get__(None, None) == 3


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_a_copy_of_the_flags_is_the_flags(copied):
    # there is one value of each flag, which tests put back by `theano.config = copied`
    flags = copied(theano.config)
    with theano.change_flags(exception_verbosity="high"):
        assert flags.exception_verbosity == "high"
    assert copied(theano.config.scan).allow_gc == theano.config.scan.allow_gc
