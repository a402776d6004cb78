"""``python -m theano.profile``: what it says of a program, and what it leaves as it was."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import run_module
from tests_scan_grad.reports.screenshots import browser, dumped, screenshot
from theano.profile.advice import advice_for
from theano.profile.findings import Findings, function_times, source_of
from theano.profile.page import profile_page
from theano.profile.pages import address_of
from theano.profile.terminal import terminal_lines
from theano.scan_module.report.page.page import table, whole_page

PROGRAM = Path(__file__).with_name("profiled_program.py")
PICTURES = Path(__file__).parents[2] / "doc" / "pictures"


def line_with(text):
    """Return the place of the program's first line that contains a text."""
    lines = PROGRAM.read_text().splitlines()
    return f"{PROGRAM.parent.name}/{PROGRAM.name}:{next(k for k, line in enumerate(lines, 1) if text in line)}"


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """Provide what the tool prints, and its page."""
    page = tmp_path_factory.mktemp("profile") / "page.html"
    done = run_module("theano.profile", "--html", str(page), str(PROGRAM), "200")
    assert done.returncode == 0, done.stderr
    return done.stderr, page


def test_the_terminal_has_functions_loops_statements_and_lines(profiled):
    printed, _ = profiled
    for title in ("functions", "loops", "statements", "lines", "advice"):
        assert f"\n{title}" in printed
    (function,) = [line.split() for line in printed.splitlines() if line.endswith("  train")]
    assert function[2] == "200"
    (loop,) = [line.split() for line in printed.splitlines() if line.endswith("  may_stop")]
    assert loop[2] == str(200 * 50)
    assert "product" in printed and "projected = x.dot(w)" in printed
    assert "GFLOP/s of float32" in printed and "memory at its peak" in printed


def test_advice_names_the_lines(profiled):
    printed, _ = profiled
    advice = printed.split("\nadvice")[1]
    assert "waits for no earlier step" in advice and "the loop may stop early" in advice
    assert line_with("projected = x.dot(w)") in advice
    assert "5 functions were compiled here" in advice
    assert line_with("again = theano.function") in advice


def test_the_page_has_pictures_of_loops(profiled):
    printed, page = profiled
    assert f"written: {page}" in printed
    text = page.read_text()
    assert "<svg" in text and "loop may_stop" in text and "projected = x.dot(w)" in text


def test_the_programs_own_failure_and_status_are_kept():
    done = run_module("theano.profile", str(PROGRAM), "1", "fail")
    assert done.returncode == 1
    assert "ArithmeticError: as was asked" in done.stderr
    assert "it ended with ArithmeticError" in done.stderr and "  train" in done.stderr


def test_a_program_that_is_not_there():
    done = run_module("theano.profile", "no_such_program.py")
    assert done.returncode == 2
    assert "there is no program no_such_program.py" in done.stderr


def test_a_folder_that_is_not_there_is_told_before_the_program_runs():
    done = run_module("theano.profile", "--html", "no_folder/page.html", str(PROGRAM), "1")
    assert done.returncode == 2 and "there is no folder no_folder" in done.stderr


def test_a_page_is_no_program():
    # the program would be written over
    done = run_module("theano.profile", "--html", str(PROGRAM), str(PROGRAM), "1")
    assert done.returncode == 2 and "--html: expected the name of a page" in done.stderr


@pytest.mark.parametrize("option", [["--html", "page.html"], ["--html=page.html"]])
def test_options_after_the_program_are_its_own_and_that_is_told(tmp_path, option):
    (tmp_path / "program.py").write_text("import sys\nprint(sys.argv[1:])\n")
    done = run_module("theano.profile", str(tmp_path / "program.py"), *option)
    assert done.returncode == 0 and done.stdout == f"{option}\n"
    assert "--html page.html program.py" in done.stderr.splitlines()[-1]
    assert "all that follows its name" in run_module("theano.profile", "--help").stdout


def test_a_module_runs_by_name():
    done = run_module("theano.profile", "-m", "tests_scan_grad.reports.profiled_program", "1")
    assert done.returncode == 0 and "  train" in done.stderr


def test_a_program_without_functions_says_so(tmp_path):
    (tmp_path / "empty.py").write_text("print('nothing')\n")
    done = run_module("theano.profile", str(tmp_path / "empty.py"))
    assert done.returncode == 0 and done.stdout == "nothing\n"
    assert "nothing stands out" in done.stderr


def findings_of(*functions, seconds=1.0, best=100.0):
    times = tuple(function_times(f.profile) for f in functions)
    return Findings("a program", seconds, times, 2**30, {"float32": best, "float64": best / 2})


def a_function(**options):
    x = T.matrix("x")
    w = theano.shared(np.ones((64, 64), theano.config.floatX))
    profile = theano.ProfileStats(atexit_print=False, message="of a test")
    f = theano.function([x], x.dot(w).sum(), profile=profile, **options)
    for _ in range(3):
        f(np.ones((64, 64), theano.config.floatX))
    return f


def test_seconds_add_up():
    f = a_function()
    findings = findings_of(f)
    (function,) = findings.functions
    assert function.calls == 3 and findings.calling == function.seconds >= function.inside > 0
    stages = function.compilation
    assert stages.whole == pytest.approx(stages.rewriting + stages.code + stages.rest)
    assert sum(function.lines.values()) == pytest.approx(sum(f.profile.apply_time.values()))
    assert any("x.dot(w).sum()" in source_of(line.line) for line in findings.lines)


def test_python_that_takes_long_is_named():
    with theano.config.change_flags(cxx=""):
        f = a_function(mode="FAST_COMPILE")
    slow = findings_of(f, seconds=1e-6)
    assert any(advice.text.startswith("Python runs ") for advice in advice_for(slow))


def test_what_takes_little_is_not_worth_a_word():
    long = findings_of(a_function(), seconds=1e6)
    assert advice_for(long) == []
    assert terminal_lines(long)[-1] == "nothing stands out"


def test_memory_of_loops():
    x = T.matrix("x")
    states, _ = theano.scan(T.tanh, outputs_info=x, n_steps=4, name="rnn")
    profile = theano.ProfileStats(atexit_print=False, message="of a test")
    f = theano.function([x], states[-1], profile=profile)
    f(np.ones((4, 4), theano.config.floatX))
    found = findings_of(f, seconds=1e6)
    assert advice_for(found) == []
    large = replace(found, functions=(replace(found.functions[0], bytes=2**29),))
    assert ["512 MB" in advice.text for advice in advice_for(large)] == [True]


@pytest.mark.skipif(browser() is None, reason="Chromium is not installed")
@pytest.mark.parametrize("scheme, paper", [("light", 1.0), ("dark", 0.1)])
def test_a_browser_shows_the_page(profiled, tmp_path, pytestconfig, scheme, paper):
    picture = tmp_path / f"profile_{scheme}.png"
    pixels = screenshot(profiled[1], picture, scheme, (1150, 1400))[..., :3]
    np.testing.assert_allclose(pixels[3, 3].mean(), paper, atol=0.05)
    inked = np.abs(pixels - pixels[3, 3]).max(axis=2) > 0.2
    assert inked[:, :60].sum() > 500 and inked[900:].any() and not inked[:, -8:].any()
    if pytestconfig.getoption("--write-screenshots"):
        shutil.copy(picture, PICTURES / picture.name)


def a_gradient():
    x = T.matrix("x")
    w = theano.shared(np.ones((64, 64)), name="w")
    with theano.config.change_flags(profile=True):
        gradient = theano.grad(T.sqr(T.tanh(x.dot(w))).sum(), w)
    profile = theano.ProfileStats(atexit_print=False, message="gradient")
    f = theano.function([x], gradient, profile=profile)
    f(np.ones((64, 64)))
    return f


def test_the_gradient_of_a_line_is_apart_from_the_line():
    findings = findings_of(a_gradient(), seconds=1e-3)
    (line,) = [line for line in findings.lines if "x.dot(w)" in source_of(line.line)]
    assert line.forward > 0 and line.gradient > 0
    assert line.seconds == pytest.approx(line.forward + line.gradient)
    printed = "\n".join(terminal_lines(findings))
    assert "forward  gradient" in printed and "gradient of " in printed
    assert "gradient of " in profile_page(findings)


def test_sizes_on_the_page_are_numbers():
    x, w = T.matrix("x"), T.matrix("w")
    states, _ = theano.scan(lambda h, w: T.tanh(h.dot(w)), None, x, w, n_steps=40, name="rnn")
    profile = theano.ProfileStats(atexit_print=False, message="of a test")
    f = theano.function([x, w], theano.grad(states[-1].sum(), w), profile=profile)
    f(*np.ones((2, 30, 30), theano.config.floatX))
    page = profile_page(findings_of(f))
    size = 30 * 30 * np.dtype(theano.config.floatX).itemsize
    assert f"Bytes written per step: {size:,}, as before" in page and "x.shape" not in page


def test_advice_leads_to_a_page_that_is_here(tmp_path, monkeypatch):
    assert address_of("how_to/profiling").endswith("/doc/how_to/profiling.md")
    assert address_of("no_such_page") == ""
    built = tmp_path / "build" / "doc" / "how_to" / "profiling.html"
    built.parent.mkdir(parents=True)
    built.write_text("")
    monkeypatch.chdir(tmp_path)
    assert address_of("how_to/profiling") == built.as_uri()


def test_a_click_sorts_a_table(tmp_path):
    if browser() is None:
        pytest.skip("Chromium is not installed")
    rows = [("b", "1,000"), ("a", "20"), ("c", "3")]
    clicks = "document.querySelectorAll('th')[{}].click()"
    for column, expected in ((0, "a b c"), (1, "b a c")):
        page = tmp_path / "page.html"
        body = table("sizes", ("name", "bytes"), rows)
        text = whole_page("sizes", body)
        page.write_text(text.replace("</body>", f"<script>{clicks.format(column)}</script></body>"))
        shown = re.findall(r"<td>(\w)</td>", dumped(page))
        assert " ".join(shown) == expected


def test_pages_say_what_the_terminal_says():
    findings = findings_of(a_function(), seconds=1e-3)
    page = profile_page(findings)
    for advice in advice_for(findings):
        assert advice.text.split(",")[0] in page
