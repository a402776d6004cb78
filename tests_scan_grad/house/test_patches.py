"""The folders of changes offered to PyTensor and PyMC: each is complete, and its parts can be read.

Whether they do what they say is for ``python -m patches.check``.
"""

import ast
import re
import shutil

import pytest

from patches.proposal import ROOT, IncompleteError, proposals, read
from patches.release import OLDEST_PYTHON, CheckError, Release
from patches.upstream import differences

PROPOSALS = proposals()

HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*\n((?:[ +\-\\].*\n)+)", re.MULTILINE)


@pytest.mark.parametrize("proposal", PROPOSALS, ids=lambda p: p.name)
def test_folder(proposal):
    assert set(proposal.releases) <= set(OLDEST_PYTHON)
    ast.parse(proposal.program)
    for path in proposal.tests:
        tree = ast.parse(path.read_text())
        assert any(
            isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            for node in ast.walk(tree)
        )
    used = {proposal.patch(release) for release in proposal.releases}
    assert used == set(proposal.folder.glob("*.patch"))


@pytest.mark.parametrize(
    "patch", sorted(ROOT.glob("*/*.patch")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_patch_has_at_most_one_line_of_context(patch):
    hunks = HUNK.findall(patch.read_text())
    assert hunks
    for removed, added, body in hunks:
        lines = body.splitlines()
        assert sum(line[0] in " -" for line in lines) == int(removed or 1)
        assert sum(line[0] in " +" for line in lines) == int(added or 1)
        kinds = "".join(line[0] for line in lines)
        # between two changes a line after the one and a line before the other
        assert max(map(len, re.findall(" +", kinds)), default=0) <= 2
        assert not kinds.startswith("  ") and not kinds.endswith("  ")


@pytest.mark.parametrize("missing", ["change.patch", "message.md", "test_*.py"])
def test_what_is_missing_is_named(tmp_path, missing):
    folder = tmp_path / "01-something"
    shutil.copytree(PROPOSALS[0].folder, folder)
    for path in folder.glob(missing):
        path.unlink()
    named = {"change.patch": "patch", "message.md": "message.md", "test_*.py": "test"}[missing]
    with pytest.raises(IncompleteError, match=f"01-something: .*{named}"):
        read(folder)


def test_output_that_the_message_lacks_is_named(tmp_path):
    folder = tmp_path / "01-something"
    shutil.copytree(PROPOSALS[0].folder, folder)
    message = (folder / "message.md").read_text()
    (folder / "message.md").write_text(message.replace("```text after", "```text later"))
    with pytest.raises(IncompleteError, match="neither before nor after"):
        read(folder)


def test_patch_that_does_not_apply_is_an_error(tmp_path):
    package = tmp_path / "site" / "pytensor"
    package.mkdir(parents=True)
    release = Release("3.0.7", "python", package)
    with pytest.raises(CheckError, match="does not apply to 3.0.7"):
        release.copy(tmp_path / "copy", [PROPOSALS[0].patch("3.0.7")])


def test_tests_that_end_otherwise_are_named():
    before = {"a": "passed", "b": "failed", "c": "passed"}
    after = {"a": "passed", "b": "passed", "d": "passed"}
    assert differences(before, after) == [
        "b: failed before, passed after",
        "c: passed before, not run after",
        "d: not run before, passed after",
    ]
