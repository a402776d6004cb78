"""Reports on loops as pages and pictures: what they say, and what a browser shows."""

import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.reports.screenshots import browser, screenshot
from theano.scan_module import scan_report, until

BATCH, WIDTH, STEPS = 4, 16, 6
PICTURES = Path(__file__).parents[2] / "doc" / "pictures"


def gated_gradient(name="gated", profile=False):
    """The gradient of a gated unit, compiled, and arguments for it."""
    x, h0 = T.tensor3("x"), T.matrix("h0")
    U, V = T.matrix("U"), T.matrix("V")

    def step(x, h, U, V):
        gate = T.nnet.sigmoid(x + h.dot(U))
        return gate * T.tanh(h.dot(V)) + (1 - gate) * h

    states, _ = theano.scan(step, x, outputs_info=h0, non_sequences=[U, V], name=name)
    gradients = theano.grad((states[-1] ** 2).sum(), [U, V])
    f = theano.function(
        [x, h0, U, V], gradients, name="gradient", profile=profile, allow_input_downcast=True
    )
    rng = np.random.default_rng(1)
    shapes = (STEPS, BATCH, WIDTH), (BATCH, WIDTH), (WIDTH, WIDTH), (WIDTH, WIDTH)
    return f, [0.1 * rng.normal(size=shape) for shape in shapes]


@pytest.fixture(scope="module")
def report():
    f, arguments = gated_gradient()
    return scan_report(f, arguments)


@pytest.fixture(scope="module")
def profiled():
    f, arguments = gated_gradient(profile=theano.ProfileStats(atexit_print=False))
    for _ in range(3):
        f(*arguments)
    return scan_report(f, arguments)


def shapes(svg, kind):
    """The elements of a class."""
    found = ElementTree.fromstring(svg).iter()
    return [element for element in found if element.get("class") == f"tn-{kind}"]


def written(report, path):
    report.write(path)
    return path.read_text()


def test_notebooks_show_what_became_of_each_loop(report):
    page = report._repr_html_()
    assert "function gradient: 2 loops" in page
    for heading in ("loop gated", "loop grad_of_gated", "pushed out after the loop", "merged"):
        assert heading in page
    assert "a product is not computed twice" in page
    assert "times" not in page.split("loop grad_of_gated")[1]


def test_bytes_are_numbers_where_arguments_are_given(report):
    forward, backward = report.loops
    # the state and what is saved of it: the gate and the hyperbolic tangent
    assert forward.bytes_before == forward.bytes_after == 3 * 8 * BATCH * WIDTH
    assert isinstance(backward.bytes_after, int)


def test_a_box_for_each_product_and_for_what_left_the_loop(report, tmp_path):
    svg = written(report, tmp_path / "loops.svg")
    products = [p for loop in report.loops for p in (*loop.products_given, *loop.products_left)]
    waiting = [p for p in products if p.states]
    assert len(shapes(svg, "box")) == len(waiting)
    assert len(shapes(svg, "free")) == len(products) - len(waiting)
    outside = sum(len(loop.hoisted) + len(loop.pushed_out) for loop in report.loops)
    assert len(shapes(svg, "outside")) == outside > 0
    arrows = sum(len(p.after) for p in products)
    assert len(shapes(svg, "arc")) == arrows


def test_products_wait_for_states_and_for_each_other():
    x, w = T.vector("x"), T.matrix("w")

    def step(h, w):
        inner = T.tanh(h.dot(w))
        return T.tanh(inner.dot(w).dot(w))

    states, _ = theano.scan(step, outputs_info=x, non_sequences=w, n_steps=3, name="chain")
    [loop] = scan_report(theano.function([x, w], states)).loops
    first, second, third = loop.products_left
    assert [product.after for product in (first, second, third)] == [(), (0,), (1,)]
    assert all(product.states == ("state(x)[t-1]",) for product in loop.products_left)
    assert all(f"{Path(__file__).name}:" in product.line for product in loop.products_left)


def test_a_product_that_waits_for_nothing_is_marked(tmp_path):
    x, w = T.tensor3("x"), T.matrix("w")
    states, _ = theano.scan(
        lambda x, h, w: (T.tanh(x.dot(w) + h), until(h.sum() > 10)),
        x,
        outputs_info=T.zeros((2, 3)),
        non_sequences=w,
        name="stops",
    )
    report = scan_report(theano.function([x, w], states))
    svg = written(report, tmp_path / "loops.svg")
    # one as it was written, one as it is compiled
    assert len(shapes(svg, "free")) == 2 and not shapes(svg, "box")
    assert "the loop may stop early" in report._repr_html_()


def test_a_loop_that_is_gone_has_no_compiled_frame(tmp_path):
    x, w = T.tensor3("x"), T.matrix("w")
    products, _ = theano.scan(lambda x, w: x.dot(w), x, non_sequences=w, name="all")
    report = scan_report(theano.function([x, w], products))
    assert report.loops[0].vanished
    svg = written(report, tmp_path / "loops.svg")
    assert len(shapes(svg, "frame")) == 1 and "no loop is left" in svg


def test_a_function_without_loops_says_so(tmp_path):
    x = T.matrix("x")
    report = scan_report(theano.function([x], x.dot(x), name="plain"))
    assert "no loops" in report._repr_html_()
    assert "no loops" in written(report, tmp_path / "loops.svg")


def test_names_are_text_not_markup(tmp_path):
    f, arguments = gated_gradient(name="<b>&loop")
    report = scan_report(f, arguments)
    page, svg = report._repr_html_(), written(report, tmp_path / "loops.svg")
    assert "&lt;b&gt;&amp;loop" in page and "<b>" not in page
    ElementTree.fromstring(svg)


def test_times_are_there_where_the_function_was_profiled(profiled):
    forward, backward = profiled.loops
    assert forward.time.calls == backward.time.calls == 3
    assert forward.time.steps == 3 * STEPS
    assert any("product" in statement.text for statement in forward.time.statements)
    page = profiled._repr_html_()
    assert page.count(f"3 calls of {3 * STEPS} steps in all") == 2 and "GFLOP/s" in page
    # how long it took does not make another report of it
    assert profiled == scan_report(*gated_gradient())


def test_each_of_two_loops_of_one_name_has_its_own_time():
    x, w = T.tensor3("x"), T.matrix("w")

    def layer(sequence, steps):
        states, _ = theano.scan(
            lambda x, h, w: T.tanh(x + h.dot(w)),
            sequence[STEPS - steps :],
            outputs_info=T.zeros((BATCH, WIDTH)),
            non_sequences=w,
            name="layer",
        )
        return states

    f = theano.function(
        [x, w],
        layer(T.exp(layer(x, STEPS)), STEPS - 2),
        profile=theano.ProfileStats(atexit_print=False),
        allow_input_downcast=True,
    )
    f(np.zeros((STEPS, BATCH, WIDTH)), np.zeros((WIDTH, WIDTH)))
    assert {loop.time.steps for loop in scan_report(f).loops} == {STEPS, STEPS - 2}


def test_a_loop_inside_another_has_a_time_of_its_own():
    x, w = T.matrix("x"), T.matrix("w")

    def outer(h, w):
        inner, _ = theano.scan(
            lambda s, w: T.tanh(s.dot(w)), outputs_info=h, non_sequences=w, n_steps=2, name="inner"
        )
        return inner[-1]

    states, _ = theano.scan(outer, outputs_info=x, non_sequences=w, n_steps=3, name="outer")
    f = theano.function(
        [x, w],
        states[-1],
        profile=theano.ProfileStats(atexit_print=False),
        allow_input_downcast=True,
    )
    f(np.zeros((BATCH, WIDTH)), np.zeros((WIDTH, WIDTH)))
    times = {loop.name: loop.time for loop in scan_report(f).loops}
    assert (times["outer"].steps, times["inner"].steps) == (3, 6)


def test_a_text_file_holds_what_print_shows(report, tmp_path):
    assert written(report, tmp_path / "loops.txt") == f"{report}\n"


def test_other_endings_are_refused(report, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.html, \.svg, \.txt; got .*loops\.pdf"):
        report.write(tmp_path / "loops.pdf")


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
def test_the_graph_lies_beside_the_page(report, tmp_path):
    pytest.importorskip("pydot")
    page = written(report, tmp_path / "loops.html")
    assert 'href="loops-graph.html"' in page
    graph = (tmp_path / "loops-graph.html").read_text()
    assert "Scan" in graph and 'src="d3viz/js/d3viz.js"' in graph
    assert (tmp_path / "d3viz" / "js" / "d3viz.js").exists()


@pytest.mark.skipif(browser() is None, reason="Chromium is not installed")
@pytest.mark.parametrize("scheme, paper", [("light", 1.0), ("dark", 0.1)])
def test_a_browser_shows_the_page(profiled, tmp_path, pytestconfig, scheme, paper):
    page, picture = tmp_path / "loops.html", tmp_path / f"loops_{scheme}.png"
    profiled.write(page)
    pixels = screenshot(page, picture, scheme, (1000, 1500))[..., :3]
    assert pixels.shape[:2] == (1500, 1000)
    np.testing.assert_allclose(pixels[3, 3].mean(), paper, atol=0.05)
    # lines of text and boxes from the top to far below, nothing cut off at the right
    inked = np.abs(pixels - pixels[3, 3]).max(axis=2) > 0.2
    assert inked[:, :60].sum() > 500 and inked[900:].any() and not inked[:, -8:].any()
    if pytestconfig.getoption("--write-screenshots"):
        shutil.copy(picture, PICTURES / picture.name)
