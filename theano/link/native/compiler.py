"""The system's C compiler: its flags, what tells its results apart, and runs of it."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from theano.link.native.ir import CannotLower
from theano.link.native.runtime.build import find_compiler, seal

FLAGS = (
    "-std=gnu11",
    "-march=native",
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
)
# A loop of a few numbers runs up to a tenth faster with -O2, larger ones up to a twentieth; it takes
# the compiler a third longer, which the user of a long program waits for.
OPTIMIZED = ("-O2",)
OPTIMIZED_FAST = ("-O1", "-finline-small-functions")


def flags_for(lines: int, limit: int) -> tuple[str, ...]:
    """The compiler's flags for so many lines, of which those above a limit are long programs."""
    return (*FLAGS, *(OPTIMIZED_FAST if lines > limit else OPTIMIZED))


def compiler() -> str:
    """The path of the compiler; CannotLower where there is none."""
    path = find_compiler()
    if path is None:
        raise CannotLower("anything, because no C compiler was found")
    return path


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def name_of(text: str, flags: tuple[str, ...]) -> str:
    """What is compiled of a text is called this, on this machine with this compiler."""
    path = compiler()
    identity = "\0".join((text, path, _version(path), _processor(), *flags))
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


@functools.cache
def _version(path: str) -> str:
    """What tells one compiler from the next of the same name, without running it."""
    resolved = Path(path).resolve()
    about = resolved.stat()
    return f"{resolved} {about.st_size} {about.st_mtime_ns}"


@functools.cache
def _processor() -> str:
    """What -march=native depends on: a cache may be shared by unlike machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() + platform.machine()
    return next((line for line in lines if line.startswith("flags")), platform.machine())


@dataclass(frozen=True)
class Run:
    """A run of the compiler, with a folder of its own.

    Attributes
    ----------
    made
        The file that it makes.
    """

    folder: Path
    process: subprocess.Popen
    made: Path

    def finish(self) -> None:
        """Wait for the end.

        Raises
        ------
        CannotLower
            With what the compiler complains of.
        OSError
            When there is no space left.
        """
        status = self.process.wait()
        complaint = (self.folder / "complaints").read_text(errors="replace")
        if status and "No space left on device" in complaint:
            raise OSError(complaint)
        if status:
            raise CannotLower(f"what the C compiler refuses: {complaint.strip()[:2000]}")

    def keep(self, path: Path) -> None:
        """Wait for the end, and put what was made where it belongs, whole and sealed."""
        self.finish()
        seal(self.made)
        os.replace(self.made, path)

    def stop(self) -> None:
        """End it, and remove its folder."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def run(
    folder: Path, made: str, flags: Sequence[str], text: str | None = None, behind: bool = False
) -> Run:
    """Start the compiler.

    Parameters
    ----------
    folder
        Where a folder for this run is made.
    made
        The name of the file that it makes.
    flags
        Without ``-c``, a library is made.
    text
        What is compiled, where flags name no files.
    behind
        Whether all else that runs comes first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="building-", dir=folder))
    target = work / made
    sources = []
    if text is not None:
        (work / "text.c").write_text(text)
        sources = [str(work / "text.c")]
    linked = [] if "-c" in flags else ["-shared", "-lm"]
    nice = ["nice", "-n", "10"] if behind and shutil.which("nice") else []
    with (work / "complaints").open("wb") as complaints:
        process = subprocess.Popen(
            [*nice, compiler(), *flags, *sources, *linked, "-o", str(target)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
        )
    return Run(work, process, target)
