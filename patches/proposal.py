"""What a folder offers: its patch, its test and its message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent

APPLIES = re.compile(r"^Applies to: (.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)(?: (\S.*?))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class IncompleteError(Exception):
    """A folder lacks something; the message says what."""


@dataclass(frozen=True)
class Proposal:
    """One pull request.

    Attributes
    ----------
    folder
        Where it is.
    message
        Its text, in Markdown.
    releases
        The releases that it is for; none if upstream has closed it.
    program
        The program in the message, which prints figures.
    printed
        (release, whether the patch is applied) -> what the program prints then.
    """

    folder: Path
    message: str
    releases: tuple[str, ...]
    program: str
    printed: dict[tuple[str, bool], str]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def tests(self) -> list[Path]:
        return sorted(self.folder.glob("test_*.py"))

    def patch(self, release: str) -> Path:
        """The patch for a release."""
        own = self.folder / f"change-{release}.patch"
        return own if own.exists() else self.folder / "change.patch"


def proposals() -> list[Proposal]:
    """All of them, in the order in which they are offered."""
    return [read(folder) for folder in sorted(ROOT.glob("[0-9][0-9]-*"))]


def read(folder: Path) -> Proposal:
    """Read a folder.

    Raises
    ------
    IncompleteError
        When its patch, its test or a part of its message is missing.
    """

    def need(condition: object, what: str) -> None:
        if not condition:
            raise IncompleteError(f"{folder.name}: {what}")

    path = folder / "message.md"
    need(path.exists(), "message.md is missing")
    message = path.read_text()
    applies = APPLIES.search(message)
    need(applies, "message.md has no line 'Applies to: RELEASE, ...'")
    releases = () if applies[1] == "none" else tuple(applies[1].split(", "))
    programs = [text for kind, _, text in BLOCK.findall(message) if kind == "python"]
    need(len(programs) == 1, f"message.md has {len(programs)} programs (```python), not one")
    printed = {}
    for kind, label, text in BLOCK.findall(message):
        if kind == "text":
            when, _, which = label.partition(" ")
            need(when in ("before", "after"), f"```text {label}: neither before nor after")
            for release in which.split() or releases:
                printed[release, when == "after"] = text
    proposal = Proposal(folder, message, releases, programs[0], printed)
    need(proposal.tests, "no test_*.py")
    for release in releases:
        need(proposal.patch(release).exists(), f"no patch for {release}")
        for patched in (False, True):
            need((release, patched) in printed, f"no output for {release}, {patched=}")
    return proposal
