"""CONTRIBUTING: its example prints what it says, and the files and folders that it names exist."""

import re

from tests_scan_grad.fresh_process import ROOT, run_python

GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def test_its_example_prints_what_it_says():
    [program] = [text for kind, text in BLOCKS if kind == "python"]
    [expected] = [text for kind, text in BLOCKS if kind == "text"]
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected


def test_what_it_names_exists():
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", GUIDE)]
    named = re.findall(r"(?:theano|tests_scan_grad|\.github|\.ci|patches)/[\w/.]*\w", GUIDE)
    here = [path for path in [*links, *named] if not path.startswith("https://")]
    assert len(here) > 20
    assert not [path for path in here if not (ROOT / path).exists()]
