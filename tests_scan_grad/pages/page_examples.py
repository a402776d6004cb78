"""The examples of a documentation page: run in order in one process, and what they print.

``python -m tests_scan_grad.pages.page_examples doc/tutorials/start.md`` runs a page and writes what its examples
print into it, where the page says something else. ``...`` on a page stands for anything.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = 300
SEPARATOR = "\x00"
# Runs the programs of a JSON list in one namespace; what each prints ends with the separator.
RUNNER = """
import json, sys
programs = json.loads(sys.stdin.read())
namespace = {"__name__": "__main__"}
for number, program in enumerate(programs, 1):
    exec(compile(program, f"<example {number}>", "exec"), namespace)
    print(end=SEPARATOR, flush=True)
"""


@dataclass(frozen=True)
class Block:
    """A block of a page: its kind, its text, and where the text begins and ends."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Example:
    """A program and the block that says what it prints; None if it prints nothing."""

    program: Block
    output: Block | None

    @property
    def expected(self) -> str:
        """Return what the program prints according to the page."""
        return self.output.text if self.output else ""

    def agrees(self, printed: str) -> bool:
        """Return whether the program printed what the page says."""
        return doctest.OutputChecker().check_output(self.expected, printed, doctest.ELLIPSIS)


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page that have a kind."""
    return [
        Block(found[1], found[2], found.start(2), found.end(2)) for found in BLOCK.finditer(page)
    ]


def examples_of(page: str) -> list[Example]:
    """The programs of a page; a text block right after one is what it prints."""
    blocks = blocks_of(page)
    followers = [*blocks, None][1:]
    return [
        Example(block, after if after and after.kind == "text" else None)
        for block, after in zip(blocks, followers, strict=True)
        if block.kind == "python"
    ]


def run_examples(page: str, root: Path) -> list[str]:
    """Return what each program of a page prints, with the flags of its ini blocks as the user's.

    Raises
    ------
    RuntimeError
        If a program ends with an error; the message has the traceback.
    """
    programs = [example.program.text for example in examples_of(page)]
    flags = "".join(block.text for block in blocks_of(page) if block.kind == "ini")
    with tempfile.TemporaryDirectory() as folder:
        theanorc = Path(folder, ".theanorc")
        theanorc.write_text(flags)
        environment = {k: v for k, v in os.environ.items() if k != "THEANO_FLAGS"}
        environment |= {"THEANORC": str(theanorc), "PYTHONPATH": str(root)}
        done = subprocess.run(
            [sys.executable, "-c", f"SEPARATOR = {SEPARATOR!r}\n{RUNNER}"],
            input=json.dumps(programs),
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    printed = done.stdout.split(SEPARATOR)[:-1]
    if done.returncode or len(printed) != len(programs):
        raise RuntimeError(f"example {len(printed) + 1} of {len(programs)}:\n{done.stderr}")
    return printed


def with_outputs(page: str, printed: list[str]) -> str:
    """The page with what its examples print in place of what it says, where they differ."""
    for example, text in reversed(list(zip(examples_of(page), printed, strict=True))):
        if example.agrees(text):
            continue
        if example.output is None:
            after = example.program.end + len("```\n")
            page = f"{page[:after]}\n```text\n{text}```\n{page[after:]}"
        else:
            page = page[: example.output.start] + text + page[example.output.end :]
    return page


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        before = path.read_text()
        path.write_text(with_outputs(before, run_examples(before, Path(__file__).parents[2])))
