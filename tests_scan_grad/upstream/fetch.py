"""Fetch the tests of another project into a cache outside this repository."""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path


class NotFetchedError(Exception):
    """The tests are neither in the cache nor can they be had now; the message says why."""


def cache_folder() -> Path:
    """Return the folder, in the user's cache folder, where fetched tests are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "theano-scan" / "upstream"


def in_folder_tests(path: str) -> bool:
    """Return whether a file of an archive lies in the archive's folder ``tests``."""
    return path.startswith("tests/")


def source_distribution(
    project: str,
    version: str,
    wanted: Callable[[str], bool] = in_folder_tests,
    part: str = "sdist",
) -> Path:
    """The folder with the tests of a project's source distribution, fetched by the project's name.

    Parameters
    ----------
    project, version
        What to fetch.
    wanted
        Says of a path in the distribution whether the file belongs to the tests.
    part
        Name in the cache of what is wanted.

    Raises
    ------
    NotFetchedError
        When it cannot be had.
    """

    def download(folder: Path) -> Path:
        # pip prepares the metadata of what it downloads, in an environment of its own.
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
        command += ["--no-binary", project, "--dest", str(folder), f"{project}=={version}"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        archives = list(folder.glob("*.tar.gz"))
        if done.returncode or not archives:
            # The setup.py of an old project does not run on every Python.
            try:
                return _from_index(project, version, folder)
            except OSError as error:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise NotFetchedError(
                    f"could not fetch {project} {version}: pip: {reason}; index: {error}"
                ) from error
        return archives[0]

    return _cached(f"{project}-{version}-{part}", download, wanted)


def _from_index(project: str, version: str, folder: Path) -> Path:
    """Download a source distribution from pip's index without preparing its metadata."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    page_url = f"{index}/{project.lower()}/"
    with urllib.request.urlopen(page_url, timeout=60) as response:
        page = response.read().decode()
    name = rf"{re.escape(project)}-{re.escape(version)}\.tar\.gz"
    link = re.search(rf'href="([^"#]*/{name})', page, re.IGNORECASE)
    if link is None:
        raise OSError(f"{page_url} has no {project}-{version}.tar.gz")
    target = folder / "archive.tar.gz"
    with urllib.request.urlopen(urllib.parse.urljoin(page_url, link[1]), timeout=60) as response:
        target.write_bytes(response.read())
    return target


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

    return _cached(name, (lambda folder: Path(local)) if local else download, in_folder_tests)


def _cached(name: str, download: Callable[[Path], Path], wanted: Callable[[str], bool]) -> Path:
    kept = cache_folder() / name
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        unpacked = Path(folder) / "unpacked"
        _unpack_tests(download(Path(folder)), unpacked, wanted)
        try:
            unpacked.rename(kept)
        except OSError:  # another process was faster
            if not kept.exists():
                raise
    return kept


def _unpack_tests(archive_path: Path, target: Path, wanted: Callable[[str], bool]) -> None:
    """Unpack what of the archive's only folder belongs to the tests."""
    with tarfile.open(archive_path) as source:
        for member in source.getmembers():
            inside = member.name.partition("/")[2]
            if member.isfile() and wanted(inside):
                member.name = inside
                source.extract(member, target, filter="data")
    if not target.is_dir():
        raise NotFetchedError(f"{archive_path.name} holds no tests")
