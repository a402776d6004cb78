"""No C compiler, and a runtime that is there, as a wheel has it: all is native by LLVM."""

from __future__ import annotations

import pytest

from tests_scan_grad.fresh_process import ROOT, printed_by
from tests_scan_grad.pages.page_examples import blocks_of
from theano.configparser import config
from theano.link.native.build import compiler, in_process
from theano.link.native.ir.ir import CannotLower
from theano.link.native.runtime import load

RECIPES = (
    "beam_search",
    "early_stopping",
    "hmm",
    "kalman",
    "masks",
    "ode",
    "signals",
    "simulation",
)


def without_a_compiler(code: str) -> list[str]:
    """Return the lines that a process without a compiler prints; Python runs none of its loops."""
    assert load.library() is not None
    flags = f"cxx=,base_compiledir={config.base_compiledir}"
    return printed_by(
        code, THEANO_FLAGS=flags, CC="no-such-compiler", PYTHONWARNINGS="error::UserWarning"
    )


def first_program(page: str) -> str:
    """The first program of a page."""
    text = (ROOT / page).read_text()
    return next(block.text for block in blocks_of(text) if block.kind == "python")


def test_the_first_example():
    code = first_program("README.md")
    lines = without_a_compiler(f"{code}\nfrom theano.link import native\nprint(native.report(f))")
    assert any(line.startswith("1 native segment, compiled by LLVM") for line in lines)
    assert not any("by PyTensor" in line for line in lines)


@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name):
    without_a_compiler(first_program(f"doc/how_to/recipes/{name}.md"))


@pytest.fixture
def no_compiler(monkeypatch):
    """No compiler is found."""
    monkeypatch.setenv("CC", "no-such-compiler")


def test_what_is_chosen(monkeypatch):
    assert in_process.chosen_compiler() == ("cc" if compiler.find_compiler() else "llvm")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert load.library() is not None
    assert in_process.chosen_compiler() == "llvm" and not in_process.why_no_compiler()
    monkeypatch.setattr(in_process, "has_llvm", lambda: False)
    assert in_process.chosen_compiler() is None
    assert "No C compiler" in in_process.why_no_compiler()


def test_without_a_runtime_nothing_is_native(no_compiler, monkeypatch):
    monkeypatch.setattr(in_process, "is_built", lambda: False)
    assert in_process.chosen_compiler() is None


def test_the_compiler_is_no_choice_where_there_is_none(no_compiler):
    with pytest.raises(CannotLower, match="no C compiler"):
        compiler.compiler()
