"""The package as a whole: what importing it costs and touches, and what it offers."""

import doctest
import importlib
import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

import theano
from tests_scan_grad.fresh_process import ROOT, printed_by, run_python
from tests_scan_grad.house import typed_program
from theano.link.native.runtime.build import find_compiler

NAMES_OF_THEANO = """
    Apply CLinker Constant Container DualLinker FunctionGraph FunctionMaker Generic In
    InconsistencyError Linker LocalLinker Lop Mode Op OpFromGraph OpWiseCLinker OpenMPOp
    OrderedUpdates Out Param PerformLinker ProfileStats Rop SymbolicInput SymbolicOutput Type
    Variable __api_version__ __version__ _asarray as_op change_flags clone compile config
    configdefaults configparser dot foldl foldr function function_dump generic
    get_scalar_constant_value gof grad gradient map misc object2 opt pp pprint predefined_linkers
    predefined_modes predefined_optimizers printing reduce scalar scan scan_module shared
    sparse_grad subgraph_grad tensor toolbox updates utils version
""".split()

STATE_OF_PYTENSOR = """
import json, pytensor, pytensor.sparse, re
from pytensor.compile.mode import get_default_mode, optdb, predefined_modes, predefined_linkers
from pytensor.graph.op import Op

def state():
    flags = {
        name: [str(flag.__get__(pytensor.config, None)), flag.is_default]
        for name, flag in pytensor.config._config_var_dict.items()
        if not name.startswith("blas")
    }
    def rewrites(found):
        inner = getattr(found, "data", None) or getattr(found, "rewrites", None)
        return [str(getattr(r, "name", r)) for r in inner] if inner else str(found)
    queried = get_default_mode().optimizer.data
    return {
        "flags": flags,
        "mode": str(get_default_mode().provided_optimizer.include),
        "rewrites": {str(getattr(r, "name", r)): rewrites(r) for r in queried},
        "modes": sorted(predefined_modes),
        "linkers": sorted(predefined_linkers),
        "call": repr(Op.__call__).split(" at ")[0],
    }

before = state()
import theano, theano.tensor, theano.scan_module, theano.sandbox.rng_mrg
after = state()
print(re.sub(" at 0x[0-9a-f]+| [(]id [0-9]+[)]|ids=[0-9]+", "", json.dumps([before, after])))
"""


def test_theanos_public_names():
    assert [name for name in NAMES_OF_THEANO if not hasattr(theano, name)] == []
    for module in ("ifelse", "sparse", "sandbox"):
        assert getattr(theano, module).__name__ == f"theano.{module}"
        assert module in dir(theano)
    assert not hasattr(theano, "no_such_name")
    assert not hasattr(theano.compile, "no_such_name")


def test_a_module_that_needs_what_is_not_installed_is_no_attribute():
    code = (
        "import sys; sys.modules['nutpie'] = None; import theano; print(hasattr(theano, 'pymc'))\n"
        "try: theano.pymc\n"
        "except AttributeError as error: print(error)"
    )
    reason = "theano.pymc needs nutpie, which is not installed: the extra [pymc]"
    assert printed_by(code) == ["False", reason]


def test_public_names_of_compile_resolve():
    for name in [*theano.compile.__all__, "debugmode", "nanguardmode", "monitormode", "profiling"]:
        assert getattr(theano.compile, name) is not None


def test_import_changes_nothing_in_pytensor():
    before, after = json.loads(printed_by(STATE_OF_PYTENSOR)[-1])
    assert len(before["flags"]) > 50 and len(before["rewrites"]) > 20
    for part, value in before.items():
        assert after[part] == value


def test_import_loads_nothing_heavy():
    code = (
        "import sys, pytensor; before = set(sys.modules); import theano\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    (added,) = printed_by(code)
    for heavy in ("torch", "jax", "numba", "sympy", "matplotlib", "pytest", "pandas"):
        assert f"'{heavy}'" not in added


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PyTensor 3.0 imports both itself")
def test_import_leaves_to_their_first_use_what_few_programs_need():
    code = "import sys, theano; print([name in sys.modules for name in ('scipy.special', 'setuptools')])"
    assert printed_by(code) == ["[False, False]"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PyTensor 3.0 imports it itself")
def test_what_python_runs_looks_for_no_machine_in_c():
    code = (
        "import sys, theano, theano.tensor as T\n"
        "ran = []\n"
        "sys.addaudithook(lambda event, args: event == 'subprocess.Popen' and ran.append(args[1]))\n"
        "x = T.vector('x'); sums, _ = theano.scan(lambda v, s: v + s, [x], [T.zeros((), x.dtype)])\n"
        "f = theano.function([x], [sums[-1], x * 2], mode='FAST_COMPILE')\n"
        "print([float(f([1, 2, 4])[0]), 'setuptools' in sys.modules, ran])\n"
    )
    assert printed_by(code) == ["[7.0, False, []]"]


def test_compilation_imports_nothing_but_lowerings_and_runs_nothing_but_the_c_compiler():
    code = (
        "import sys, theano, theano.tensor as T; theano.function([], [], mode='NATIVE')\n"
        # where it was not installed, its compiler is asked for a version
        "from theano.link.native.runtime.load import library; library()\n"
        "ran = []\n"
        "sys.addaudithook(lambda event, args: event == 'subprocess.Popen' and ran.append(args[1]))\n"
        "before = set(sys.modules); x = T.matrix('x'); W = theano.shared(x.type.filter([[1.0]]))\n"
        "y = theano.scan(lambda v, h, W: T.tanh(v + h.dot(W)), x, x[0], W)[0].sum()\n"
        "f = theano.function([x], y, updates=[(W, W - theano.grad(y, W))], mode='NATIVE')\n"
        "print([name for name in set(sys.modules) - before if 'native' not in name])\n"
        # the compiler's texts, what the linker makes of them, and which flags it knows, asked
        # once for each cache
        "print([command for command in ran if not {'-fPIC', '-shared', '-Werror'} & {*command}])"
    )
    assert printed_by(code) == ["[]", "[]"]


def test_import_is_silent_and_first_or_second():
    assert printed_by("import theano, pytensor; print(theano.config.floatX)") == ["float64"]
    assert printed_by("import pytensor, theano; print(theano.config.floatX)") == ["float64"]


def test_typed_program_runs(capsys):
    typed_program.main()
    assert capsys.readouterr().out == "[1.0, 4.0, 9.0] 12.0 3 float64\n"


def test_version_agrees_with_the_distribution():
    code = "import importlib.metadata as m; print(m.version('theano-scan'))"
    assert printed_by(code) == [theano.__version__]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, ROOT],
        check=True,
        capture_output=True,
        text=True,
    )
    (made,) = folder.glob("theano_scan-*.whl")
    return made


def test_wheel_holds_the_whole_package(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {str(p.relative_to(ROOT)) for p in (ROOT / "theano").rglob("*.py")}
    assert wanted <= held and "theano/py.typed" in held
    assert not any(name.startswith(("tests_scan_grad", "examples")) for name in held)


LOADS_THE_RUNTIME = """
import theano, theano.tensor as T
from theano.link.native.runtime import load
x = T.vector("x")
f = theano.function([x], T.tanh(x).sum(), mode="NATIVE")
print(theano.__file__, load.library()._name, load.library().tn_max_threads() > 0, f([0.0]))
"""


def loading_the_runtime(folder, *paths):
    """Run a process that loads the runtime, given paths to modules and a folder for its cache."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTENSOR_FLAGS": f"base_compiledir={folder / 'cache'}",
        "THEANO_FLAGS": "",
        "THEANORC": os.devnull,
    }
    return subprocess.run(
        [sys.executable, "-c", LOADS_THE_RUNTIME],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_wheel_holds_the_compiled_runtime(wheel, tmp_path):
    libraries = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    if find_compiler() is None:
        assert not libraries and wheel.name.endswith("-py3-none-any.whl")
        return
    (library,) = libraries
    assert "-py3-none-" in wheel.name and not wheel.name.endswith("-any.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    cache = tmp_path / "cache"
    done = loading_the_runtime(tmp_path, site)
    package = site / "theano" / "__init__.py"
    assert done.stdout.split() == [str(package), str(site / library), "True", "0.0"], done.stderr
    assert list(cache.rglob("runtime-*")) == []


def test_a_clone_takes_the_runtime_of_the_package_that_was_installed_from_it(wheel, tmp_path):
    (library,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    site, clone = tmp_path / "site", tmp_path / "clone"
    zipfile.ZipFile(wheel).extractall(site)
    built = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(os.path.join(ROOT, "theano"), clone / "theano", ignore=built)
    done = loading_the_runtime(tmp_path, clone, site)
    package = clone / "theano" / "__init__.py"
    assert done.stdout.split() == [str(package), str(site / library), "True", "0.0"], done.stderr


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS")
@pytest.mark.parametrize(
    "module",
    ["configparser", "compile.clone", "compile.function", "compile.io", "compile.mode"]
    + ["compile.sharedvalue", "derivatives.compared", "gradient", "scan_module.scan_views"]
    + ["link.native.engine_report", "link.native.run.profile"],
)
def test_examples_in_docstrings(module):
    # By import_module: a function may hide its module's name.
    found = doctest.testmod(importlib.import_module(f"theano.{module}"))
    assert found.attempted > 0 and found.failed == 0


def test_compiling_a_product_prints_nothing():
    """PyTensor remarks that it found no BLAS; its products run through NumPy's."""
    outcome = run_python(
        "import theano, theano.tensor as T\n"
        "a, b, c = T.matrices('abc')\n"
        "theano.function([a, b, c], c + a.dot(b))"
    )
    assert outcome.stderr == ""
