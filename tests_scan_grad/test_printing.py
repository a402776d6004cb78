"""`theano.printing`: graphs as text, values as they pass, pictures."""

import sys

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.ifelse import ifelse
from theano.printing import Print, debugprint, min_informative_str, pp, pprint, pydotprint


def test_debugprint_of_a_variable_and_of_a_function(capsys):
    x = T.dvector("x")
    text = debugprint(T.exp(x) + 1, file="str")
    assert "Add" in text and "Exp" in text and "x [id" in text
    f = theano.function([x], T.exp(x), mode="FAST_COMPILE")
    debugprint(f)
    assert "Exp" in capsys.readouterr().out


def test_debugprint_takes_theanos_arguments():
    x = T.dvector("x")
    y = T.exp(x)
    y.name = "y"
    assert "[id" not in debugprint(y, ids="", file="str")
    assert "Vector(float64" in debugprint(y, print_type=True, file="str")
    assert "Exp" not in debugprint(y + 1, depth=1, file="str")
    shallow = debugprint(y + 1, stop_on_name=True, file="str")
    assert "'y'" in shallow and "x [id" not in shallow
    with open(__file__, encoding="utf-8") as file, pytest.raises(OSError):
        debugprint(y, file=file)


def test_pretty_printing():
    x, y = T.dvectors("x", "y")
    assert pp(x + y) == pprint(x + y) == "(x + y)"
    assert theano.pp is pp and theano.pprint is pprint
    assert min_informative_str(T.exp(x)).startswith("A. Exp")


def test_print_shows_a_value_and_passes_it_on(capsys):
    x = T.dvector("x")
    f = theano.function([x], Print("now", attrs=("shape",))(x) * 2, mode="FAST_COMPILE")
    np.testing.assert_array_equal(f([1.0, 2.0]), [2, 4])
    assert "now shape = (2,)" in capsys.readouterr().out


def test_print_has_a_gradient():
    x = T.dscalar("x")
    gradient = theano.grad(Print("x")(x) ** 2, x)
    assert theano.function([x], gradient, mode="FAST_COMPILE")(3.0) == 6


def test_pydotprint_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pydot", None)
    with pytest.raises(RuntimeError, match="pip install pydot"):
        pydotprint(T.exp(T.dvector()), tmp_path / "graph.png")


def test_ifelse_computes_one_branch_only():
    def fail(op, value):
        raise RuntimeError("the branch that is not taken was computed")

    condition, x = T.iscalar("condition"), T.dscalar("x")
    other = Print("other", attrs=(), global_fn=fail)(x)
    f = theano.function([condition, x], ifelse(condition, 2 * x, other), mode="FAST_RUN")
    assert f(1, 3.0) == 6
    with pytest.raises(RuntimeError, match="not taken"):
        f(0, 3.0)
    gradient = theano.grad(ifelse(condition, 2 * x, -x), x)
    g = theano.function([condition, x], gradient, mode="FAST_RUN", on_unused_input="ignore")
    assert (g(1, 3.0), g(0, 3.0)) == (2, -1)
