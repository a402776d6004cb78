"""Prove what the folders of patches say: ``python -m patches.check``.

For each release, fetched by its name:

* every patch applies alone, and all of them apply together;
* the program of each message prints what the message says, without the patch and with it;
* each new test fails without its patch and passes with it, alone and with all together;
* PyTensor's own tests of scan and of its rewriting end as they do without any patch (PyMC's own are
  not run).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from patches.proposal import IncompleteError, Proposal, proposals
from patches.release import OLDEST_PYTHON, PROJECTS, CheckError, Release, fetch
from patches.upstream import differences, outcomes, upstream_tests
from tests_scan_grad.upstream.fetch import NotFetchedError


@dataclass(frozen=True)
class Copies:
    """Copies of a release: as it is, with each patch alone, and with all of them."""

    release: Release
    plain: Path
    alone: dict[str, Path]
    together: Path


def main(arguments: list[str]) -> int:
    """Check what the command line names; return 1 if anything fails."""
    options = parse(arguments)
    failures = 0
    try:
        chosen = proposals()
    except IncompleteError as error:
        print(error)
        return 1
    for proposal in chosen:
        if not proposal.releases:
            print(f"{proposal.name}: closed, upstream has it")
    for version in options.release or OLDEST_PYTHON:
        offered = [p for p in chosen if version in p.releases]
        print(
            f"== {PROJECTS.get(version, 'pytensor')} {version}: {len(offered)} patches", flush=True
        )
        with tempfile.TemporaryDirectory() as folder:
            try:
                copies = make_copies(fetch(version, options.python), offered, Path(folder))
            except CheckError as error:
                print(f"FAILED {error}")
                failures += 1
                continue
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                ended = pool.map(succeeds, *zip(*checks(copies, offered), strict=True))
                failures += list(ended).count(False)
            if not options.quick and version not in PROJECTS:
                failures += failures_upstream(copies, options)
    print("failed" if failures else "all patches are as their messages say")
    return int(failures > 0)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m patches.check", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--release", action="append", help="check this release only")
    parser.add_argument("--python", help="interpreter to install a release for")
    parser.add_argument("--archive", help="archive of the release's repository, for its tests")
    tier = parser.add_mutually_exclusive_group()
    tier.add_argument("--quick", action="store_true", help="leave out PyTensor's own tests")
    tier.add_argument("--all", action="store_true", help="run them with each patch alone, too")
    options = parser.parse_args(arguments)
    if options.archive and len(options.release or []) != 1:
        parser.error("--archive is of one release: name it with --release")
    return options


def make_copies(release: Release, offered: list[Proposal], folder: Path) -> Copies:
    """Apply each patch alone and all of them together."""
    patches = {p.name: p.patch(release.version) for p in offered}
    return Copies(
        release,
        plain=release.copy(folder / "plain", []),
        alone={name: release.copy(folder / name, [path]) for name, path in patches.items()},
        together=release.copy(folder / "together", patches.values()),
    )


def checks(copies: Copies, offered: list[Proposal]) -> Iterator[tuple[str, Callable[[], str]]]:
    """The checks of what the folders say, each with its name."""
    for proposal in offered:
        yield f"{proposal.name}: figures", partial(check_figures, copies, proposal)
        yield f"{proposal.name}: tests", partial(check_tests, copies, proposal)
    every_test = [path for p in offered for path in p.tests]
    yield "all together: tests", partial(check_passes, copies, copies.together, every_test)


def failures_upstream(copies: Copies, options: argparse.Namespace) -> int:
    """Run PyTensor's own tests with copies; the number of copies that change how one ends."""
    changed = {"all together": copies.together}
    if options.all:
        changed |= copies.alone
    failures = 0
    for name, path in changed.items():
        check = partial(check_upstream, copies, path, options.archive)
        failures += not succeeds(f"{name}: PyTensor's tests", check)
    return failures


def succeeds(what: str, check: Callable[[], str]) -> bool:
    """Make a check and print how it ended."""
    try:
        print(f"passed {what} ({check()})", flush=True)
    except (CheckError, NotFetchedError) as error:
        print(f"FAILED {what}: {error}", flush=True)
        return False
    return True


def check_figures(copies: Copies, proposal: Proposal) -> str:
    """The program of the message prints what the message says."""
    for patched, path in ((False, copies.plain), (True, copies.alone[proposal.name])):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program.py"
            program.write_text(proposal.program)
            printed = copies.release.run([str(program)], path, Path(folder))
        expected = proposal.printed[copies.release.version, patched]
        if printed != expected:
            raise CheckError(f"{patched=}: printed\n{printed}but the message says\n{expected}")
    return "as the message says"


def check_tests(copies: Copies, proposal: Proposal) -> str:
    """A new test fails without the patch and passes with it."""
    process = run_tests(copies, copies.plain, proposal.tests)
    # 1: tests failed; 2: a test cannot be imported, since it uses what the patch adds
    if process.returncode not in (1, 2):
        raise CheckError(f"without the patch, no test failed:\n{process.stdout[-2000:]}")
    without = process.stdout.strip().splitlines()[-1]
    return f"without: {without}; with: " + check_passes(
        copies, copies.alone[proposal.name], proposal.tests
    )


def check_passes(copies: Copies, path: Path, tests: list[Path]) -> str:
    """Tests pass with a copy."""
    process = run_tests(copies, path, tests)
    if process.returncode:
        raise CheckError(process.stdout[-4000:])
    return process.stdout.strip().splitlines()[-1]


def run_tests(copies: Copies, path: Path, tests: list[Path]):
    """Run new tests with a copy, away from this project's own settings of pytest."""
    command = ["-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
    with tempfile.TemporaryDirectory() as folder:
        return copies.release.process([*command, *map(str, tests)], path, Path(folder))


def check_upstream(copies: Copies, path: Path, archive: str | None) -> str:
    """PyTensor's own tests end as they do with the release as it is."""
    folder = upstream_tests(copies.release.version, archive)
    before = outcomes(copies.release, copies.plain, folder)
    found = differences(before, outcomes(copies.release, path, folder))
    if found:
        raise CheckError("\n".join(found))
    failed = sum(state == "failed" for state in before.values())
    return f"{len(before)} tests end as without; {failed} of them fail in both"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
