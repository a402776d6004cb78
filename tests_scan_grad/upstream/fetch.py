"""Fetch the tests of another project into a cache outside this repository."""

import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path


class NotFetchedError(Exception):
    """The tests are neither in the cache nor can they be had now; the message says why."""


def cache_folder() -> Path:
    """Where fetched tests are kept: the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "theano-scan" / "upstream"


def source_distribution(project: str, version: str) -> Path:
    """The folder with the ``tests`` of a project's source distribution, fetched with pip.

    Raises
    ------
    NotFetchedError
        When pip cannot download it.
    """

    def download(folder: Path) -> Path:
        # pip prepares the metadata of what it downloads, in an environment of its own.
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        command += ["--no-binary", project, "--dest", str(folder), f"{project}=={version}"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        archives = list(folder.glob("*.tar.gz"))
        if done.returncode or not archives:
            reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise NotFetchedError(f"pip could not download {project} {version}: {reason}")
        return archives[0]

    return _cached(f"{project}-{version}-sdist", download)


def archive(name: str, url: str, local: str | None = None) -> Path:
    """The folder with the ``tests`` of an archive of a repository.

    Parameters
    ----------
    name
        Name in the cache; it holds the version.
    url
        Where the archive is.
    local
        Path of a copy of the archive, used instead of the network.

    Raises
    ------
    NotFetchedError
        When the archive cannot be had.
    """

    def download(folder: Path) -> Path:
        target = folder / "archive.tar.gz"
        try:
            with urllib.request.urlopen(url, timeout=60) as response:
                target.write_bytes(response.read())
        except OSError as error:
            raise NotFetchedError(f"could not fetch {url}: {error}") from error
        return target

    return _cached(name, (lambda folder: Path(local)) if local else download)


def _cached(name: str, download: Callable[[Path], Path]) -> Path:
    kept = cache_folder() / name
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        unpacked = Path(folder) / "unpacked"
        _unpack_tests(download(Path(folder)), unpacked)
        try:
            unpacked.rename(kept)
        except OSError:  # another process was faster
            if not kept.exists():
                raise
    return kept


def _unpack_tests(archive_path: Path, target: Path) -> None:
    """Unpack what lies in the ``tests`` folder of the archive's only folder."""
    with tarfile.open(archive_path) as source:
        for member in source.getmembers():
            inside = member.name.partition("/")[2]
            if member.isfile() and inside.startswith("tests/"):
                member.name = inside
                source.extract(member, target, filter="data")
    if not (target / "tests").is_dir():
        raise NotFetchedError(f"{archive_path.name} holds no folder 'tests'")
