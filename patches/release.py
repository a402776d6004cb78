"""A release of PyTensor or PyMC: fetched by the package's name, copied and patched."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests_scan_grad.upstream.fetch import cache_folder

# Release -> the oldest Python that it installs on
OLDEST_PYTHON = {"3.0.7": (3, 11), "3.3.7": (3, 12), "6.4.0": (3, 12)}

# Release -> whose it is, if not PyTensor's
PROJECTS = {"6.4.0": "pymc"}


class CheckError(Exception):
    """A check could not be made or did not succeed; the message says why."""


@dataclass(frozen=True)
class Release:
    """An installed release.

    Attributes
    ----------
    version
        Its version.
    python
        The interpreter of the environment that it is installed in.
    package
        The folder of the package.
    """

    version: str
    python: str
    package: Path

    @property
    def project(self) -> str:
        """The package's name."""
        return PROJECTS.get(self.version, "pytensor")

    def copy(self, target: Path, patches: Iterable[Path]) -> Path:
        """Copy the package into a folder, to be put on PYTHONPATH, and apply patches.

        Raises
        ------
        CheckError
            When a patch does not apply.
        """
        target.mkdir(parents=True)
        shutil.copytree(
            self.package, target / self.project, ignore=shutil.ignore_patterns("__pycache__")
        )
        for patch in patches:
            # A folder inside a repository is not looked up as one.
            environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(target.parent)}
            done = _run(["git", "apply", "-p1", str(patch)], cwd=target, env=environment)
            if done.returncode:
                raise CheckError(f"{patch} does not apply to {self.version}:\n{done.stdout}")
        return target

    def run(self, arguments: list[str], path: Path, cwd: Path, flags: str = "cxx=") -> str:
        """Run Python with a copy of the package.

        Parameters
        ----------
        arguments
            What follows the interpreter.
        path
            The folder that holds the copy.
        cwd
            The folder to run in.
        flags
            PyTensor's flags. Without a C++ compiler nothing waits for one.

        Returns
        -------
        str
            What it printed.

        Raises
        ------
        CheckError
            When it fails.
        """
        done = self.process(arguments, path, cwd, flags)
        if done.returncode:
            raise CheckError(f"{' '.join(arguments)} failed:\n{done.stdout[-4000:]}")
        return done.stdout

    def process(
        self, arguments: list[str], path: Path, cwd: Path, flags: str = "cxx="
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with a copy of the package, whether it succeeds or not."""
        dropped = ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST")
        environment = {name: value for name, value in os.environ.items() if name not in dropped}
        all_flags = ",".join(filter(None, [os.environ.get("PYTENSOR_FLAGS"), flags]))
        environment |= {"PYTHONPATH": str(path), "PYTENSOR_FLAGS": all_flags}
        return _run([self.python, "-W", "ignore", *arguments], cwd=cwd, env=environment)


def fetch(version: str, python: str | None = None) -> Release:
    """Get a release: the one installed beside this program, or one in an environment of its own.

    Parameters
    ----------
    version
        The release.
    python
        An interpreter to make that environment with, if the one found should not be used.
    """
    project = PROJECTS.get(version, "pytensor")
    if python is None and _installed_here(project) == version:
        return Release(version, sys.executable, Path(sysconfig.get_path("purelib")) / project)
    interpreter = python or _interpreter(version)
    environment = cache_folder().parent / "patches" / f"{project}-{version}"
    inside = str(environment / "bin" / "python")
    if not (environment / "complete").exists():
        packages = [f"{project}=={version}", "pytest"]
        for command in (
            [interpreter, "-m", "venv", "--clear", str(environment)],
            [inside, "-m", "pip", "install", "--quiet", *packages],
        ):
            done = _run(command)
            if done.returncode:
                raise CheckError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}")
        (environment / "complete").touch()
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    package = Path(_run([inside, "-c", where]).stdout.strip()) / project
    return Release(version, inside, package)


def _installed_here(project: str) -> str | None:
    try:
        return importlib.metadata.version(project)
    except importlib.metadata.PackageNotFoundError:
        return None


def _interpreter(version: str) -> str:
    """An interpreter that the release installs on: this one, one on PATH or one of pyenv's."""
    oldest = OLDEST_PYTHON.get(version, (3, 12))
    question = f"import ensurepip, sys, venv; sys.exit(sys.version_info < {oldest})"
    for candidate in _interpreters():
        if _run([candidate, "-c", question]).returncode == 0:
            return candidate
    raise CheckError(
        f"{PROJECTS.get(version, 'pytensor')} {version} needs Python {'.'.join(map(str, oldest))} or later with its venv "
        "module; none was found. --python names one"
    )


def _interpreters() -> Iterator[str]:
    yield sys.executable
    names = ("python3.12", "python3.13", "python3.14", "python3")
    yield from filter(None, map(shutil.which, names))
    pyenv = shutil.which("pyenv")
    root = os.environ.get("PYENV_ROOT") or (_run([pyenv, "root"]).stdout.strip() if pyenv else "")
    if root:
        yield from map(str, sorted(Path(root).glob("versions/3.*/bin/python")))


def _run(command: list[str], **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
