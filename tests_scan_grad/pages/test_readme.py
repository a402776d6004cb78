"""README: every block of code runs, and every command is one that works."""

import os
import re
import shlex
import stat
import subprocess
import sys

import pytest

from tests_scan_grad.fresh_process import ROOT
from tests_scan_grad.pages.page_examples import examples_of, run_examples

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
EXAMPLES = examples_of(README)
COMMANDS = [
    command.strip()
    for kind, text in BLOCKS
    if kind == "sh"
    for line in text.splitlines()
    for command in line.split("&&")
]
# How each command is tried: what to add so that it is quick, or None where another test does it.
TRIALS = {
    "python3 -m venv .venv": None,
    ".venv/bin/python -m pip install .": None,
    ".venv/bin/python -m pip install -e '.[test]'": None,
    ".venv/bin/python -m pip install '.[bench]'": None,
    ".venv/bin/python -m pip install '.[doc]'": None,
    # test_documentation.py builds them
    ".venv/bin/python -m sphinx doc build/doc": None,
    ".venv/bin/python examples/char_rnn.py": "--max-minutes 0.02 --hidden 8 --sample 20 --fresh",
    ".venv/bin/python -m pytest -n 2 --dist loadfile": "--collect-only -q tests_scan_grad/pages/test_readme.py",
    ".venv/bin/python -m tests_scan_grad.timing steps": (
        "--quick --rows softmax-500 --repeats 1 --peers none"
    ),
}


def test_every_block_is_of_a_kind_that_is_tested():
    assert {kind for kind, _ in BLOCKS} <= {"python", "text", "sh"}
    assert len(EXAMPLES) >= 2 and all(example.output for example in EXAMPLES)


def test_programs_print_what_readme_says():
    for example, printed in zip(EXAMPLES, run_examples(README, ROOT), strict=True):
        assert example.expected == printed


def test_it_is_short():
    assert len(README.splitlines()) <= 150


def test_every_command_is_known_here():
    assert set(COMMANDS) == set(TRIALS)


@pytest.mark.parametrize("command", [name for name, extra in TRIALS.items() if extra])
def test_command_works(command, tmp_path):
    extra = TRIALS[command]
    words = [sys.executable, *shlex.split(command)[1:], *shlex.split(extra)]
    if "char_rnn" in command:
        text = tmp_path / "text.txt"
        text.write_text("the quick brown fox jumps over the lazy dog\n" * 1000)
        words += ["--text", str(text), "--checkpoint", str(tmp_path / "saved")]
    done = subprocess.run(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_extras_that_readme_installs_exist():
    import tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(re.findall(r"\[(\w+)\]'", " ".join(COMMANDS)))
    assert extras == {"test", "bench", "doc"} and extras <= set(declared["optional-dependencies"])


def test_ci_runs_the_test_command_of_readme():
    script = ROOT / ".ci" / "run"
    content = script.read_text()
    tests = next(c for c in COMMANDS if "pytest" in c).removeprefix(".venv/bin/")
    assert content.rstrip().endswith(tests)
    assert "pip install --quiet -e '.[test]'" in content
    assert script.stat().st_mode & stat.S_IXUSR
    subprocess.run(["bash", "-n", script], check=True)


def test_ci_says_when_there_is_no_python(tmp_path):
    for tool in ("bash", "dirname", "mktemp", "rm"):
        where = next(
            os.path.join(folder, tool)
            for folder in os.environ["PATH"].split(os.pathsep)
            if os.path.exists(os.path.join(folder, tool))
        )
        (tmp_path / tool).symlink_to(where)
    done = subprocess.run(
        [ROOT / ".ci" / "run"], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "no Python 3.11 or later" in done.stderr
