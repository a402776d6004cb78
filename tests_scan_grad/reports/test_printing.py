"""`theano.printing`: graphs as text, values as they pass, pictures."""

import sys

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.ifelse import ifelse
from theano.printing import (
    Print,
    debugprint,
    min_informative_str,
    position_independent_str,
    pp,
    pprint,
    pydotprint,
)


def test_debugprint_of_a_variable_and_of_a_function(capsys):
    x = T.dvector("x")
    text = debugprint(T.exp(x) + 1, file="str")
    assert text.splitlines() == [
        "Elemwise{add,no_inplace} [id A] ''   ",
        " |Elemwise{exp,no_inplace} [id B] ''   ",
        " | |x [id C]",
        " |InplaceDimShuffle{x} [id D] ''   ",
        "   |TensorConstant{1} [id E]",
    ]
    f = theano.function([x], T.exp(x), mode="FAST_COMPILE")
    assert debugprint(f) is None
    assert capsys.readouterr().out == "Elemwise{exp,no_inplace} [id A] ''   0\n |x [id B]\n"


def test_debugprint_takes_theanos_arguments():
    x = T.dvector("x")
    y = T.exp(x)
    y.name = "y"
    assert "[id" not in debugprint(y, ids="", file="str")
    assert "x [id A] <TensorType(float64, vector)>" in debugprint(x, print_type=True, file="str")
    assert "exp" not in debugprint(y + 1, depth=1, file="str")
    shallow = debugprint(y + 1, stop_on_name=True, file="str")
    assert "'y'" in shallow and "x [id" not in shallow
    done = {}
    first, second = (debugprint(y, done=done, file="str", ids="int") for _ in range(2))
    assert (first.count("\n"), second.count("\n")) == (2, 1)
    with open(__file__, encoding="utf-8") as file, pytest.raises(OSError):
        debugprint(y, file=file)
    for wrong in (debugprint, lambda v: debugprint(v, ids="alpha")):
        with pytest.raises((TypeError, ValueError), match="debugprint"):
            wrong("x" if wrong is debugprint else x)


def test_debugprint_of_a_deep_graph():
    x = T.dscalar("x")
    y = x
    for _ in range(3000):
        y = T.exp(y)
    assert debugprint(y, file="str").count("\n") == 3001


def test_debugprint_of_what_a_function_holds_and_who_uses_it():
    x = T.dvector("x")
    y = T.exp(x)
    f = theano.function([x], [y, y - x], mode="FAST_COMPILE")
    lines = debugprint(f, print_clients=True, file="str").splitlines()
    assert lines[0].endswith("0 clients:[('output', ''), ('[id C]', 1)]")
    assert "clients" not in lines[2]
    held = theano.shared(np.array([1.0, 2.0]), "held")
    g = theano.function([], held * 2, mode="FAST_COMPILE")
    assert " |held [id C] [array([1., 2.])]" in debugprint(g, print_storage=True, file="str")


def test_debugprint_of_times():
    x = T.dvector("x")
    f = theano.function([x], T.exp(x), profile=True, mode="FAST_COMPILE")
    assert "-->" not in debugprint(f, file="str")
    f([1.0])
    text = debugprint(f, file="str")
    assert "Timing Info" in text and "% " in text.splitlines()[-2].split("-->")[1]


def test_debugprint_of_a_loop():
    x, w, h = T.dmatrix("x"), T.dvector("w"), T.dvector("h")
    state, _ = theano.scan(lambda x, h, w: x * h + w, x, h, w)
    lines = debugprint(state[-1], file="str").splitlines()
    assert any(line.startswith(" | |for{cpu,scan_fn} [id ") for line in lines)
    inner = lines[lines.index("Inner graphs of the scan ops:") :]
    assert inner[2].startswith("for{cpu,scan_fn} [id ")
    assert inner[3].startswith(" >Elemwise{add,no_inplace} [id ")
    for given in (" > | |x[t] [id ", " > | |h[t-1] [id ", " > |w_copy [id "):
        assert any(line.startswith(given) and " -> [id " in line for line in inner)


def test_debugprint_of_the_memory_of_a_state():
    w, h = T.dvectors("w", "h")
    state, _ = theano.scan(lambda h, w: h * w, outputs_info=h, non_sequences=w, n_steps=3)
    text = debugprint(state, file="str")
    assert text.count("|Rebroadcast{0} [id ") == 3
    assert text.count("|Shape [id ") == 2
    compiled = debugprint(theano.function([w, h], state), file="str")
    assert "Rebroadcast" not in compiled


def test_debugprint_of_a_loop_in_a_loop():
    w, x, named = T.dvector("w"), T.dmatrix("x"), T.dscalar("a_copy")

    def step(row, w, a):
        return theano.scan(lambda e, s, a: e * s * a, row * w, T.ones(()), a)[0][-1]

    states, _ = theano.scan(step, x, non_sequences=[w, named])
    inner = debugprint(states, file="str").split("Inner graphs of the scan ops:")[1]
    # headed by its loop, as each step is
    outer_step, inner_step = inner.split("\nfor{cpu,scan_fn} [id ")[1:]
    for given in ("x[t] [id", "w_copy [id", "a_copy_copy [id"):
        assert given in outer_step
    assert "|a_copy_copy [id" in inner_step and "_copy_copy_copy" not in inner_step


def test_loops_have_marks_of_their_own():
    x, y = T.dvectors("x", "y")
    first, second = (theano.scan(lambda a: T.exp(a) + 1, v)[0] for v in (x, y))
    inner = debugprint([first, second], file="str").split("Inner graphs of the scan ops:")[1]
    marks = [line.split("[id ")[1].split("]")[0] for line in inner.splitlines() if "[t]" in line]
    assert len(marks) == len(set(marks)) == 2
    assert inner.count("Elemwise{exp,no_inplace}") == 2


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda x, i: x[1:i], "Subtensor{int64:int32:}"),
        (lambda x, i: x[:, 0], "Subtensor{::, int64}"),
        (lambda x, i: T.set_subtensor(x[i], 1.0), "IncSubtensor{Set;int32}"),
        (lambda x, i: T.inc_subtensor(x[[0, 1]], 1.0), "AdvancedIncSubtensor1{no_inplace,inc}"),
        (lambda x, i: x[[0, 1]], "AdvancedSubtensor1"),
        (lambda x, i: x[[0, 1], [1, 0]], "AdvancedSubtensor"),
        (lambda x, i: x.sum(axis=1), "Sum{axis=[1], acc_dtype=float64}"),
        (lambda x, i: x.prod(), "Prod{axis=None, dtype='float64', acc_dtype='float64'}"),
        (lambda x, i: T.any(x > 0, axis=0), "Any{0}"),
        (lambda x, i: x.T, "InplaceDimShuffle{1,0}"),
        (lambda x, i: T.Rebroadcast((1, True))(x), "Rebroadcast{?,1}"),
        (lambda x, i: T.dot(x, x), "dot"),
        (lambda x, i: T.cast(x, "float32"), "Elemwise{Cast{float32}}"),
        (lambda x, i: T.nnet.sigmoid(x), "sigmoid"),
        (lambda x, i: abs(x), "Elemwise{abs_,no_inplace}"),
        (lambda x, i: T.inv(x), "Elemwise{inv,no_inplace}"),
        (lambda x, i: T.cumsum(x, axis=0), "CumOp{0, add}"),
        (lambda x, i: T.constant([2, 2]), "TensorConstant{(2,) of 2}"),
        (lambda x, i: T.constant(np.arange(100)), "TensorConstant{[ 0  1  2 .. 97 98 99]}"),
        (lambda x, i: T.tensor3(dtype="float32"), "<TensorType(float32, 3D)>"),
        (lambda x, i: T.row(dtype="float32"), "<TensorType(float32, row)>"),
    ],
)
def test_names_are_those_of_theano(made, expected):
    variable = made(T.dmatrix("x"), T.iscalar("i"))
    assert debugprint(variable, file="str", ids="", depth=1).startswith(expected + " ")


def test_an_operation_that_works_in_place_says_on_what():
    x = T.dvector("x")
    f = theano.function([theano.In(x, mutable=True)], T.exp(x), mode=theano.Mode("py"))
    assert "Elemwise{exp}[(0, 0)]" in debugprint(f, file="str")


def test_pretty_printing():
    x, y = T.dvectors("x", "y")
    assert pp(x + y) == pprint(x + y) == "(x + y)"
    assert theano.pp is pp and theano.pprint is pprint
    assert pp(T.dscalar() ** 2) == "(<TensorType(float64, scalar)> ** TensorConstant{2})"
    assert pp(T.cumsum(x, axis=0)) == "CumOp{0, add}(x)"
    assert pp(T.log(x.sum())) == "log(Sum{acc_dtype=float64}(x))"


def test_short_forms():
    x = T.dvector("x")
    y = T.exp(x)
    assert (
        min_informative_str(y * y)
        == "A. Elemwise{mul,no_inplace}\n B. Elemwise{exp,no_inplace}\n  C. x\n <B>"
    )
    assert position_independent_str(y).startswith("theano_graph=A. Elemwise{exp")


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


@pytest.mark.skipif(not theano.printing.pydot_imported, reason=theano.printing.pydot_imported_msg)
def test_pydotprint_draws_the_steps_of_loops_too(tmp_path):
    x = T.dvector("x")
    totals, _ = theano.scan(lambda x, s: x + s, x, T.zeros((), "float64"), name="totals")
    pydotprint(totals, tmp_path / "graph.svg", format="svg", scan_graphs=True)
    whole, step = sorted(path.name for path in tmp_path.iterdir())
    assert whole == "graph.svg" and step.startswith("graph_totals_")
    assert isinstance(pydotprint(x * 2, return_image=True), bytes)


def test_an_operation_in_place_has_its_formula():
    x = T.dvector("x")
    (result,) = theano.function([x], T.exp(x) * x, mode="FAST_RUN").maker.fgraph.outputs
    assert result.owner.op.inplace_pattern
    assert pp(result) == "(exp(x) * x)"


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


@pytest.mark.skipif(not theano.printing.pydot_imported, reason=theano.printing.pydot_imported_msg)
def test_d3viz_draws_graphs_that_are_not_compiled(tmp_path):
    x = T.dvector("x")
    for number, graph in enumerate(
        [T.exp(x), [T.exp(x)], T.exp(x).owner, theano.function([x], T.exp(x))]
    ):
        theano.d3viz.d3viz(graph, tmp_path / f"{number}.html")
        theano.d3viz.d3write(graph, tmp_path / f"{number}.dot")
        assert "Elemwise" in (tmp_path / f"{number}.dot").read_text()


PRODUCTS_WITH_VECTORS = {
    "v.dot(W)": ("(v \\dot W)", "dot [id A] ''   \n |v [id B]\n |W [id C]\n"),
    "W.dot(v)": ("(W \\dot v)", "dot [id A] ''   \n |W [id B]\n |v [id C]\n"),
    "v.dot(u)": ("(v \\dot u)", "dot [id A] ''   \n |v [id B]\n |u [id C]\n"),
    "T.dot(W, W)": ("(W \\dot W)", "dot [id A] ''   \n |W [id B]\n |W [id B]\n"),
    "T.dot(W, v).dimshuffle('x', 0)": (
        "(W \\dot v)",
        "InplaceDimShuffle{x,0} [id A] ''   \n |dot [id B] ''   \n   |W [id C]\n   |v [id D]\n",
    ),
}


@pytest.mark.parametrize("product", PRODUCTS_WITH_VECTORS)
def test_products_with_vectors_are_one_product(product):
    """As Theano 1.0.5 printed them."""
    v, u, W = T.vector("v"), T.vector("u"), T.matrix("W")
    variable = eval(product, {"v": v, "u": u, "W": W, "T": T})
    formula, tree = PRODUCTS_WITH_VECTORS[product]
    assert theano.pp(variable) == formula
    assert theano.printing.debugprint(variable, file="str") == tree


def test_a_row_of_a_product_of_matrices_is_not_one_with_a_vector():
    W, V = T.matrix("W"), T.TensorType("float64", (True, False))("V")
    row = T.dot(V, W).dimshuffle(1)
    assert theano.pp(row) == "DimShuffle{1}((V \\dot W))"
    assert theano.printing.debugprint(row, file="str").startswith("InplaceDimShuffle{1} [id A]")
