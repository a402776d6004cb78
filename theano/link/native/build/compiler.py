"""The system's C compiler: what distinguishes its results, and runs of it."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from theano.configparser import caller_stacklevel
from theano.link.native.build.compiler_flags import without_unknown
from theano.link.native.build.in_process import chosen_compiler
from theano.link.native.build.processor_time import seconds_used
from theano.link.native.ir.ir import CannotLower
from theano.link.native.runtime.build import (
    Command,
    find_compiler,
    is_for_want_of_room,
    temporary_files_in,
    what_is_wrong_with,
)
from theano.rewriting.disk.building_folders import BuildingFolder, make_building_folder
from theano.rewriting.disk.sealed_files import put_sealed
from theano.support.data_classes import dataclass


def compiler() -> Command:
    """Return the command of the compiler; CannotLower where there is none."""
    command = find_compiler()
    if command is None:
        raise CannotLower("anything, because no C compiler was found")
    return command


_warned_of: set[str] = set()


def warn_of_compiler(reason: str) -> None:
    """Warn once that a function, and maybe each, runs without native code, and why."""
    if chosen_compiler() is None or _warned_of:
        # who has no compiler has been warned
        return
    _warned_of.add(reason)
    warnings.warn(
        f"the native engine cannot compile {reason}\nPython runs instead, slower",
        stacklevel=caller_stacklevel(),
    )


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def name_of(text: str, flags: tuple[str, ...]) -> str:
    """Return what the compiled form of a text is called, on this machine with this compiler."""
    command = compiler()
    identity = "\0".join((text, *command, _version(command), _processor(), *flags))
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


@functools.cache
def _version(command: Command) -> str:
    """Return what distinguishes one compiler from the next of the same name, without running it."""
    # of a command such as "ccache gcc", both
    paths = [shutil.which(word) for word in command if not word.startswith("-")]
    found = [Path(path).resolve() for path in paths if path is not None]
    abouts = [(path, path.stat()) for path in found]
    return " ".join(f"{path} {about.st_size} {about.st_mtime_ns}" for path, about in abouts)


@functools.cache
def _processor() -> str:
    """Return what -march=native depends on: a cache may be shared by unlike machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() + platform.machine()
    return next((line for line in lines if line.startswith("flags")), platform.machine())


def command_of(flags: Sequence[str]) -> list[str]:
    """Return the command of the compiler with those of some flags that it knows."""
    command = compiler()
    return [*command, *without_unknown(flags, command, _version(command))]


@dataclass(frozen=True)
class Run:
    """A run of the compiler, with its own folder.

    Attributes
    ----------
    made
        The file that it makes.
    """

    folder: BuildingFolder
    process: subprocess.Popen
    made: Path

    def is_done(self) -> bool:
        """Return whether it has ended, well or not."""
        return self.process.poll() is not None

    def seconds_used(self) -> float | None:
        """Return how long it has had a core, where the system reports it."""
        return seconds_used(self.process.pid)

    def finish(self) -> None:
        """Wait for the end.

        Raises
        ------
        CannotLower
            With what the compiler complains about.
        OSError
            When there is no space left.
        """
        status = self.process.wait()
        complaint = (self.folder.path / _COMPLAINTS).read_text(encoding="utf-8", errors="replace")
        message = complaint.strip()[:2000] or f"exit status {status}"
        if status and is_for_want_of_room(complaint):
            raise OSError(message)
        if status:
            raise CannotLower(f"what the C compiler refuses: {message}")
        wrong = what_is_wrong_with(self.made)
        if wrong:
            raise CannotLower(f"anything, because the C compiler made {wrong}: {message}")

    def keep(self, folder: Path) -> None:
        """Wait for the end, and put what was made where it belongs, whole and sealed."""
        self.finish()
        put_sealed(self.made, folder)

    def stop(self) -> None:
        """End it and what it started, and remove its folder."""
        if not self.is_done():
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()
            self.process.wait()
        self.folder.remove()


_COMPLAINTS = "complaints"


def own_group(behind: bool) -> tuple[list[str], dict]:
    """Return what comes before a command, and the options of a process that no Ctrl-C reaches.

    All that the compiler starts can be ended together where systems have groups of processes.

    Parameters
    ----------
    behind
        Whether all else that runs comes first.
    """
    if sys.platform == "win32":
        # from a program without a console, no window opens
        options = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        priority = subprocess.BELOW_NORMAL_PRIORITY_CLASS if behind else 0
        return [], {"creationflags": options | priority}
    nice = ["nice", "-n", "10"] if behind and shutil.which("nice") else []
    return nice, {"process_group": 0}


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

    Raises
    ------
    CannotLower
        If there is no compiler, or it cannot be started.
    OSError
        If the folder cannot be written.
    """
    arguments = command_of(flags)

    def sources(work: Path) -> list[str]:
        if text is None:
            return []
        (work / "text.c").write_text(text, encoding="utf-8")
        return [str(work / "text.c")]

    linked = [] if "-c" in flags else ["-shared", "-lm"]
    return _run(folder, made, lambda work: [*arguments, *sources(work), *linked], behind)


def linker() -> str | None:
    """Return the path of the system's linker; None where there is none that is called as GNU's."""
    return shutil.which("ld") if sys.platform == "linux" else None


def link(folder: Path, made: str, files: Sequence[Path], linker: str) -> Run:
    """Start the linker on object files, without what the compiler would have it look through.

    The C library is in the process, and nothing here begins or ends with a library.
    """
    arguments = [linker, "-shared", "-z", "noexecstack", *map(str, files)]
    return _run(folder, made, lambda _: arguments)


def _run(
    folder: Path, made: str, arguments_in: Callable[[Path], list[str]], behind: bool = False
) -> Run:
    """Start a command that makes a file in its own folder."""
    work = make_building_folder(folder)
    try:
        target = work.path / made
        arguments = [*arguments_in(work.path), "-o", str(target)]
        return Run(work, _start(arguments, work.path, behind), target)
    except BaseException:
        work.remove()
        raise


def _start(arguments: Sequence[str], work: Path, behind: bool) -> subprocess.Popen:
    before, options = own_group(behind)
    with (work / _COMPLAINTS).open("wb") as complaints:
        try:
            return subprocess.Popen(
                [*before, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                # what the compiler leaves when it is killed goes with the folder
                env={**os.environ, **temporary_files_in(work)},
                **options,
            )
        except OSError as error:
            raise CannotLower(
                f"anything, because the C compiler {arguments[0]} cannot be started: {error}"
            ) from error
