"""Modules that `import theano` leaves for later, all of which are there when they are asked for."""

import importlib
import pkgutil

import pytest

from tests_scan_grad.fresh_process import printed_by
from tests_scan_grad.house.imports import PACKAGE, syntax
from theano.link.native.lowering import operations
from theano.link.native.lowering.places import OPERATORS_OF
from theano.link.native.lowering.registry import LOWERINGS

# Packages that need others which are optional
OPTIONAL = ("theano.gpuarray", "theano.pymc", "theano.tests")

# Modules of another release of PyTensor, of PyMC, and those that need other packages
ELSEWHERE = (
    "theano.pytensor_internals.before_3_3",
    "theano.pytensor_internals.since_3_3",
    "theano.pymc",
    "theano.tests",
    "theano.tensor.message_passing",
    "theano.compat.six",
)

# Packages and modules that a program without loops, gradients and networks need not wait for
LATER = """
    pytensor.sparse scipy numpy.f2py numpy.testing
    theano.link.native.linker theano.link.native.runtime.load theano.link.native.run
    theano.scan_module theano.compile.profile_summary.loops theano.compile.debugmode
    theano.tensor.nnet.nnet theano.tensor.nnet.abstract_conv theano.tensor.signal.pool
    theano.tensor.opt theano.all_rewrites theano.sandbox theano.gpuarray theano.ifelse
""".split()


def packages_with_lazy_names() -> list[str]:
    return [
        name
        for name in syntax()
        if name not in OPTIONAL and any(line.startswith("_LAZY = ") for line in _source(name))
    ]


def _source(name: str) -> list[str]:
    path = PACKAGE.parent.joinpath(*name.split("."), "__init__.py")
    return path.read_text().splitlines() if path.exists() else []


def test_import_leaves_for_later_what_few_programs_need_at_once():
    code = f"import sys, theano; print([name for name in {LATER} if name in sys.modules])"
    assert printed_by(code) == ["[]"]


def test_function_without_loops_imports_no_reports_of_them():
    code = (
        "import sys, theano, theano.tensor as T\n"
        "x = T.dscalar('x'); print(theano.function([x], x + 1)(1))\n"
        "print([name for name in sys.modules if name.startswith('theano.scan_module.report.page')])"
        "\nprint([name for name in sys.modules if 'lowering.operations.' in name])"
    )
    value, pages, lowerings = printed_by(code)
    assert (value, pages) == ("2.0", "[]")
    assert "elementwise" in lowerings
    assert "linear_algebra" not in lowerings


def test_what_a_module_says_it_has_is_there():
    pytest.importorskip("jax")
    modules = [importlib.import_module(m) for m in syntax() if not m.startswith(ELSEWHERE)]
    missing = [
        f"{module.__name__}.{name}"
        for module in modules
        for name in getattr(module, "__all__", ())
        if not hasattr(module, name)
    ]
    assert missing == []


@pytest.mark.parametrize("name", packages_with_lazy_names())
def test_each_lazy_name_is_there(name):
    package = importlib.import_module(name)
    for lazy in package._LAZY:
        if f"{name}.{lazy}" not in OPTIONAL:
            assert getattr(package, lazy) is not None
    assert set(package._LAZY) <= set(dir(package))
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = package.no_such_name


@pytest.mark.parametrize(
    "expression",
    [
        "theano.tensor.nnet.conv2d",
        "theano.tensor.nnet.abstract_conv.conv2d",
        "theano.tensor.signal.pool.pool_2d",
        "theano.tensor.opt.register_canonicalize",
        "theano.scan_module.scan_utils.clone",
        "theano.scan_module.scan",
        "theano.scan",
        "theano.compile.mode.FAST_RUN.optimizer",
        "theano.compile.predefined_modes['FAST_RUN'].linker",
        "theano.link.native.report",
        "theano.compile.profiling.ProfileStats",
    ],
)
def test_attributes_need_no_import_of_their_own(expression):
    assert printed_by(f"import theano\nprint({expression} is not None)") == ["True"]


def test_modules_do_not_hide_functions_of_their_names():
    code = (
        "import theano.scan_module.scan, theano.compile.function, theano.link.native.engine_report\n"
        "print(*map(callable, (theano.scan, theano.scan_module.scan, theano.compile.function,"
        " theano.function, theano.tensor.sort, theano.link.native.report)))"
    )
    assert printed_by(code) == ["True True True True True True"]


def test_all_of_tensor_is_imported_by_a_star():
    code = "from theano.tensor import *\nprint(nnet.relu.__name__, signal.__name__, sort.__name__)"
    assert printed_by(code) == ["relu theano.tensor.signal sort"]


def test_the_same_rewrites_are_chosen_whatever_was_imported_before():
    count = (
        "from theano.compile.mode import optdb, OPT_FAST_RUN\n"
        "def names(db): return [getattr(r, 'name', None) or str(type(r)) for r in db]\n"
        "chosen = optdb.query(OPT_FAST_RUN)\n"
        "print(sorted(names(chosen)))\n"
        "import re\n"
        "for part in chosen:\n"
        "    if hasattr(part, 'node_tracker'):\n"
        "        found = (re.sub('0x[0-9a-f]+', '', str(r)) for r in part.node_tracker.get_rewriters())\n"
        "        print(part.name, sorted(found))\n"
    )
    few = printed_by("import theano\n" + count)
    many = printed_by(
        "import theano, theano.tensor.nnet.nnet, theano.scan_module, pytensor.sparse\n"
        "import theano.link.native.linker, theano.sandbox.rng_mrg, theano.tensor.opt\n" + count
    )
    assert few == many
    assert any("local_softmax" in line or "crossentropy" in line for line in few)
    assert "PushOutDotAccumulate" in few[0]


@pytest.mark.parametrize(
    "look_up", ["'HoistInvariants' in optdb", "bool(optdb['HoistInvariants'])"]
)
def test_rewrites_are_found_by_name_before_any_is_chosen(look_up):
    code = f"import theano\nfrom theano.compile.mode import optdb\nprint({look_up})"
    assert printed_by(code) == ["True"]


def test_table_of_lowerings_names_each_operator():
    for found in pkgutil.walk_packages(operations.__path__, f"{operations.__name__}."):
        importlib.import_module(found.name)
    home = operations.__name__.rpartition(".")[0]
    registered = {
        (function.__module__.removeprefix(home), operator.__name__)
        for operator, function in LOWERINGS.items()
        if operator.__module__.startswith(("pytensor.", "theano."))
    }
    listed = {(module, name) for module, names in OPERATORS_OF.items() for name in names.split()}
    assert registered <= listed
    # one release of PyTensor has no Ger of C's
    assert {name for _, name in listed - registered} <= {"CGer"}


def test_modes_with_names_are_listed_before_they_are_made():
    code = (
        "import theano\nmodes = theano.compile.mode.predefined_modes\n"
        "print(list(modes), 'FAST_RUN' in modes, 'DEBUG_MODE' in modes, len(modes))\n"
        "print(modes['FAST_RUN'] is theano.compile.FAST_RUN is modes.get('FAST_RUN'))"
    )
    assert printed_by(code) == ["['FAST_RUN', 'FAST_COMPILE'] True False 2", "True"]


def test_threads_that_compile_first_see_all_rewrites():
    code = (
        "import theano, theano.tensor as T\nfrom threading import Thread\n"
        "from theano.compile.mode import optdb, OPT_FAST_RUN\n"
        "found = []\n"
        "ask = lambda: found.append(len(list(optdb.query(OPT_FAST_RUN))))\n"
        "threads = [Thread(target=ask) for _ in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "print(len(found), len(set(found)))"
    )
    assert printed_by(code) == ["4 1"]
