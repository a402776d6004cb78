"""Words: terms that the project has given up do not come back, and docstrings begin as PEP 257 says."""

import ast
import re

import pytest

from tests_scan_grad.fresh_process import ROOT

PACKAGE = "(PyTensor|NumPy|JAX|SciPy|Python|XLA|PyMC|Theano)"

# what was written once -> the term of the field that is used instead (doc/reference/glossary.md)
GIVEN_UP = {
    r"\b(told|known)_lengths?\b|\btold lengths?\b": "static length",
    r"\btruth values?\b": "boolean",
    r"\b[Ww]hole numbers?\b": "integer",
    r"\bat hand\b|_at_hand\b": "available",
    r"\b[Ii]n the place of\b": "in place of, replaces",
    r"\banew\b": "again, rebuild, recompute",
    r"\blaps?\b": "iteration",
    r"\bcrowd(ed)?\b": "oversubscription",
    r"\bt(ake|akes|aken)[ _]apart\b": "unpack",
    r"\bkept[ _]whole\b": "rollback",
    r"\bunread\b": "dead",
    r"\bturn_of\b|\bInTurns\b": "lock",
    r"\busers_code\b|\bwhere_right\b|\bendless\b": "the names of today's modules",
    r"\bSpread\b": "splat",
    r"\bremarks?\b": "warning, note",
    r"\b(is|are|was|were|be|not|been) told\b|\btold_": "given, declared, static, reported",
    r"\b[Bb]eside\b": "next to, besides, along with, compared with",
    r"\b[Aa]nswer(s|ed)\b": "returns, returned",
    r"\b[Pp]ick(s|ed)\b(?! up)|\bPick(ed)?\b": "selects, gathers",
    r"\b(random|uniform|normal|multinomial) draws?\b|\bdrawn_": "sample",
    r"\b[Oo]utcomes?\b": "multinomial sample, category; result",
    r"\bTruth\b|_truth\b|\btruth_": "boolean",
    r"\bthreads meet\b|\b(tn_)?meeting_time\b": "barrier",
    r"\bmeets? (the|all|a|B|it|them)\b": "is multiplied by, reads",
    r"\bbec(ame|omes?) of\b": "what happens to, compiled form",
    r"_in_words\b": "format",
    r"\btells? [\w ]{1,30}\b(apart|from (others|the next|another))\b": "distinguishes",
    r"(?<!one) of ours\b": "our, of this package",
    rf"\b(a|an|the) (?!places?\b)\w+ of {PACKAGE}'s(?=[.,;:)])": "a NumPy array, NumPy's array",
    r"\b(a|an) \w+ of (its|their|your) own(?=[.,;:)])": "its own, separate",
    r"\bpytensor_base\b|\bnumpy_draws\b|\btruth_and_eval\b": "the names of today's modules",
}
FILES = sorted(
    path
    for pattern in (
        "theano/**/*.py",
        "theano/**/*.c",
        "theano/**/*.h",
        "theano/**/*.inc",
        "doc/**/*.md",
        "*.md",
    )
    for path in ROOT.glob(pattern)
    if path.name != "glossary.md"
)
MODULES = sorted(
    path for folder in ("theano", "tests_scan_grad") for path in (ROOT / folder).rglob("*.py")
)
NO_IMPERATIVE = ("What", "Whether", "How", "Where", "Which")


def found(text: str) -> list[str]:
    """Return the terms in a text that are given up, each with what to write instead."""
    return [
        f"{match[0]!r}: write {instead!r}"
        for pattern, instead in GIVEN_UP.items()
        for match in re.finditer(pattern, text)
    ]


def test_terms_that_were_given_up_do_not_come_back():
    wrong = {
        str(path.relative_to(ROOT)): terms
        for path in FILES
        if (terms := found(path.read_text(encoding="utf-8")))
    }
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        "a whole number",
        "taken apart",
        "rows_at_hand",
        "told_length",
        "written beside it",
        "an array of NumPy's.",
        "a folder of its own.",
        "tells loops apart",
    ],
)
def test_a_term_that_was_given_up_is_seen(text):
    assert found(text)


def documented(tree: ast.AST) -> list[tuple[str, str]]:
    """Return the docstrings of a module and of all that it defines, with the name of each."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [(getattr(node, "name", "module"), ast.get_docstring(node) or "") for node in nodes]


def test_docstrings_begin_with_an_imperative_or_a_noun_phrase():
    wrong = [
        f"{path.relative_to(ROOT)}: {name}: {docstring.splitlines()[0]}"
        for path in MODULES
        for name, docstring in documented(ast.parse(path.read_text(encoding="utf-8")))
        if docstring.split(" ")[0] in NO_IMPERATIVE
    ]
    assert not wrong
