"""Variables are true, and `eval` is `theano.function`'s, to modules that use Theano and no others."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
from types import ModuleType

import numpy as np
import pytest

import theano
import theano.scalar as S
import theano.sparse
import theano.tensor as T
from tests_scan_grad.fresh_process import ROOT, printed_by
from theano.link.native.few_calls import FewCallsLinker
from theano.sandbox.rng_mrg import MRG_RandomStreams

PYTENSORS_TRUTH = "cannot be converted to Python boolean"

# What other people's modules do with a variable; the first line says what they import.
ASKS = """
def truth(variable):
    return bool(variable)

def branch(variable):
    return "given" if variable else "not given"

def loop(variables):
    return any(variables)

def less(x, y):
    return x < y

def between(x, y, z):
    return x < y < z

def evaluate(variable, *values, **options):
    return variable.eval(*values, **options)
"""


def module(first_line, name="someone", package=None, **names):
    """A module with the functions of ASKS that someone else wrote."""
    made = ModuleType(name)
    vars(made).update(names)
    exec(first_line + ASKS, vars(made))
    return made


def kinds_of_variables():
    x, y = T.vectors("x", "y")
    a, b = S.float64("a"), S.float64("b")
    matrix = theano.sparse.csr_matrix()
    return {
        "input": x,
        "result": x + y,
        "lt": T.lt(x, y),
        "gt": T.gt(x, 0),
        "eq": T.eq(x, y),
        "clone": (x < y).clone(),
        "not": ~(x < y),
        "element": (x < y)[0],
        "constant": T.constant(0.0),
        "zeros": T.zeros((3,)),
        "shared": theano.shared(0.0),
        "scalar": a,
        "scalars": a < b,
        "lt of scalars": S.lt(a, b),
        "sparse": matrix,
        "None": T.NoneConst,
        "random": MRG_RandomStreams(1).uniform((2,)),
    }


@pytest.mark.parametrize("kind", kinds_of_variables())
def test_variables_are_true(kind):
    variable = kinds_of_variables()[kind]
    assert bool(variable)
    assert variable
    assert any([variable])


@pytest.mark.parametrize(
    "compare",
    [
        lambda x, y: x < y,
        lambda x, y: x <= y,
        lambda x, y: x > y,
        lambda x, y: x >= y,
        lambda x, y: x > 1,
        lambda x, y: x >= np.float32(1),
        lambda x, y: copy.copy(x < y),
        lambda x, y: pickle.loads(pickle.dumps(x < y)),
        lambda x, y: theano.shared(np.zeros(3)) < x,
    ],
)
def test_what_the_operators_of_order_give_is_neither_true_nor_false(compare):
    result = compare(*T.vectors("x", "y"))
    with pytest.raises(TypeError, match="Variables do not support boolean operations"):
        bool(result)


def test_chains_of_order_are_errors():
    x, y = T.vectors("x", "y")
    with pytest.raises(TypeError, match="a < b < c"):
        x < y < 2  # noqa: B015 -- what is tested
    with pytest.raises(TypeError):
        max(x, y)


@pytest.mark.parametrize("first_line", ["", "import pytensor", "'''\nimport theano\n'''"])
def test_other_modules_get_pytensors_answers(first_line):
    other = module(first_line)
    x, y = T.vectors("x", "y")
    for variable in [x, x + y, x < y, theano.shared(0.0), T.constant(1.0), S.float64("a")]:
        for ask in (other.truth, other.branch, lambda v: other.loop([v])):
            with pytest.raises(TypeError, match=PYTENSORS_TRUTH):
                ask(variable)
    # what they compare is true here, as any variable is that no module of Theano's users compared
    assert vars(other.less(x, y)).keys() == vars(T.lt(x, y)).keys()


@pytest.mark.parametrize(
    "first_line",
    [
        "import theano",
        "import theano.tensor as T",
        "from theano import tensor as tt",
        "from theano import function",
        "from theano.tensor import *",
        "import importlib; T = importlib.import_module('theano.tensor')",
    ],
)
def test_modules_that_import_theano_get_theanos_answers(first_line):
    other = module(first_line)
    x, y = T.vectors("x", "y")
    assert other.truth(x) and other.branch(x) == "given" and other.loop([x])
    with pytest.raises(TypeError, match="do not support boolean operations"):
        other.between(x, y, x)


def test_pytensor_itself_gets_its_own_answers():
    # its broadcasting asks, or the standard library on behalf of it
    names = {"__name__": "pytensor.somewhere", "theano": theano}
    exec(ASKS, names)
    with pytest.raises(TypeError, match=PYTENSORS_TRUTH):
        names["truth"](T.vector())


def test_standard_library_asks_for_its_caller():
    names = {"__name__": "unittest.case"}
    exec(ASKS, names)
    assert names["truth"](T.vector())
    without = module("", ask=names["truth"])
    exec("def indirectly(variable): return ask(variable)", vars(without))
    with pytest.raises(TypeError, match=PYTENSORS_TRUTH):
        without.indirectly(T.vector())


LIBRARY = {
    "lib/__init__.py": "",
    "lib/backend/__init__.py": "from .theano_backend import *\n",
    # names that are PyTensor's, in both
    "lib/backend/theano_backend.py": "from theano.tensor import dot, vector\n",
    "lib/layers.py": "from . import backend as K\n" + ASKS,
    "lib/plain.py": "'''\nimport theano\n'''\n" + ASKS,
    "lib/late.py": "def load():\n    import theano\n" + ASKS,
}

USES_LIBRARY = """
import pytensor.tensor as pt
from lib import layers, plain, late
import sys
x = pt.vector("x")
print("theano" in sys.modules, layers.branch(x), late.branch(x))
for ask in (plain.branch, bool):
    try:
        print(ask(x))
    except TypeError as error:
        print(str(error)[:12])
"""


def test_a_library_uses_theano_through_its_own_backend(tmp_path):
    for name, text in LIBRARY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "program.py").write_text(USES_LIBRARY)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "THEANO_FLAGS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["True given given", "TensorVariab", "TensorVariab"]


def test_a_module_that_imports_theano_later_is_asked_again():
    other = module("", name="a_module_for_a_while")
    sys.modules[other.__name__] = other
    try:
        with pytest.raises(TypeError):
            other.truth(T.vector())
        other.theano = theano
        assert other.truth(T.vector())
    finally:
        del sys.modules[other.__name__]


def test_interactive_programs_get_theanos_answers():
    assert printed_by("import theano.tensor as T; print(bool(T.vector()))") == ["True"]


def test_eval_is_theanos_function():
    x, y = T.vectors("x", "y")
    total = (x * y).sum()
    values = {x: [1.0, 2.0], y: [3.0, 4.0]}
    assert total.eval(values) == 11.0
    first = only_function(total)
    assert isinstance(first, type(theano.function([x], x)))
    assert total.eval({y: [0.0, 1.0], x: [3.0, 4.0]}) == 4.0 and only_function(total) is first
    assert total.eval({"x": [1.0], "y": [2.0]}) == 2.0
    assert theano.shared(3).eval() == 3 and T.constant(2.5).eval() == 2.5
    # Theano's are kept by what is given, and not with the variable's pickle
    y_given = (x + 1).eval({x: [0.0]})
    assert y_given == [1.0] and "_fn_cache" not in vars(pickle.loads(pickle.dumps(total)))


def only_function(variable):
    (kept,) = variable._fn_cache.values()
    return kept.call


def test_eval_starts_the_compiler_for_what_is_called_again():
    x = T.vector("x")
    y = T.exp(x).sum()
    values = []
    for _ in range(4):
        values.append(float(y.eval({x: [0.0, 1.0]})))
    assert np.allclose(values, 1 + np.e, rtol=1e-15)
    linker = only_function(y).maker.linker
    assert not isinstance(linker, FewCallsLinker)
    assert str(theano.link.native.report(only_function(y))).startswith("1 native segment")


def test_eval_of_few_operations_starts_no_compiler():
    code = (
        "import sys, numpy, theano, theano.tensor as T\n"
        "ran = []\n"
        "sys.addaudithook(lambda event, args: event == 'subprocess.Popen' and ran.append(args[1]))\n"
        "x = theano.shared(numpy.arange(6.0).reshape(2, 3))\n"
        "y = T.tanh(T.dot(x, x.T)) / T.exp(x).sum() + T.nnet.sigmoid(x).mean(axis=1)\n"
        "z = T.log(x).eval()\n"
        "w = T.cast(T.clip(x, 1, 2), 'int8').eval()\n"
        "print(y.eval().shape, z[0, 0], w.dtype == 'int8',"
        " [command for command in ran if '-fPIC' in command])\n"
    )
    assert printed_by(code) == ["(2, 2) -inf True []"]


def test_eval_of_a_loop_is_native():
    x = T.vector("x")
    total = theano.scan(lambda v, s: T.tanh(s + v), x, T.zeros(()))[0][-1]
    assert total.eval({x: [1.0, 2.0]}) == np.tanh(2 + np.tanh(1.0))
    assert "scan_fn: native" in str(theano.link.native.report(only_function(total)))


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "DebugMode"])
def test_eval_follows_the_flag_mode(mode):
    x = T.vector("x")
    y = 2 * x
    with theano.config.change_flags(mode=mode):
        assert y.eval({x: [1.0]}) == [2.0]
    assert type(only_function(y).maker.mode) is type(theano.compile.get_mode(mode))
    z = 2 * x
    z.eval({x: [1.0]}, mode=mode)
    assert only_function(z).maker.linker.__class__ is only_function(y).maker.linker.__class__


def test_eval_names_the_users_line():
    x = T.vector("x")
    y = x + 1
    with pytest.raises(ValueError, match="test_truth_and_eval.py:"):
        y.eval({x: "text"})
    with pytest.raises(theano.compile.UnusedInputError):
        y.eval({x: [1.0], T.vector("z"): [2.0]})
    with pytest.raises(theano.gof.MissingInputError):
        y.eval()
    with pytest.raises(ValueError, match="no variable with the name 'q'"):
        y.eval({"q": [1.0]})
    with pytest.raises(ValueError, match="several variables with the name 'x'"):
        (x + T.vector("x")).eval({"x": [1.0]})


def test_eval_draws_other_numbers_each_time():
    draws = T.shared_randomstreams.RandomStreams(1).uniform((2,))
    f = theano.function([], T.shared_randomstreams.RandomStreams(1).uniform((2,)))
    for _ in range(4):
        np.testing.assert_array_equal(draws.eval(), f())


def test_eval_of_other_modules_is_pytensors():
    code = textwrap.dedent("""
        import theano, pytensor, pytensor.tensor as pt
        from types import ModuleType
        other = ModuleType("other")
        exec("def evaluate(variable, *values): return variable.eval(*values)", vars(other))
        pytensor.config.mode = "FAST_COMPILE"
        x = pt.vector("x")
        y = x + 1
        print(other.evaluate(y, {"x": [1.0]}), y.eval({x: [1.0]}))
        pytensors, theanos = y._fn_cache.values()
        print(type(pytensors).__module__, type(pytensors.maker.mode).__module__)
        print(type(theanos.call.maker.mode).__module__)
    """)
    assert printed_by(code) == [
        "[2.] [2.]",
        "pytensor.compile.executor pytensor.compile.mode",
        "theano.compile.mode",
    ]
