"""CONTRIBUTING: its examples print what it says, and the files and folders that it names exist."""

import re
from itertools import pairwise

import pytest

from tests_scan_grad.fresh_process import ROOT, run_python

GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


EXAMPLES = [
    (program, expected)
    for (kind, program), (printed, expected) in pairwise(BLOCKS)
    if (kind, printed) == ("python", "text")
]


@pytest.mark.parametrize(("program", "expected"), EXAMPLES)
def test_its_examples_print_what_it_says(program, expected):
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected


def test_it_has_examples():
    assert len(EXAMPLES) == sum(kind == "python" for kind, _ in BLOCKS) == 2


def test_what_it_names_exists():
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", GUIDE)]
    named = re.findall(r"(?:theano|tests_scan_grad|\.github|\.ci|patches)/[\w/.]*\w", GUIDE)
    here = [path for path in [*links, *named] if not path.startswith("https://")]
    assert len(here) > 20
    assert not [path for path in here if not (ROOT / path).exists()]
