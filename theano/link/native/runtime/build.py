"""Compile the C runtime.

A library is named by hashes of its sources, flags and machine, and of the compiler (`load.py`).
Installing the package uses this file by itself: it imports nothing but Python's own modules.
"""

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
FLAGS = ("-std=gnu11", "-O3", "-fPIC", "-pthread", "-ffp-contract=fast")
# Left out where a compiler does not know them. Zig's checks for undefined behaviour unless asked not to.
OPTIONAL_FLAGS = ("-fno-sanitize=undefined",)
# On Windows gcc keeps vectors of 32 bytes where they must not lie, and clang lacks what MinGW brings.
_COMPILERS = () if sys.platform == "win32" else ("cc", "gcc", "clang")
# what a library's name ends with
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
# What the compiler says where another folder may have room.
_NO_ROOM = (
    "No space left on device",
    "File too large",
    "File size limit exceeded",
    "Disk quota exceeded",
)

# The command of a compiler: its path, and what comes before all other arguments.
Command = tuple[str, ...]


class BuildError(RuntimeError):
    """The C compiler could not build the runtime; the message holds its output."""


def find_compiler() -> Command | None:
    """Command of the C compiler: ``$CC`` where it is set, else ``cc``, ``gcc``, ``clang`` or Zig's.

    ``$CC`` may have arguments, as in ``ccache gcc`` or ``gcc -m64``. Zig's is installed by
    ``pip install ziglang``, on any platform.
    """
    asked = os.environ.get("CC", "").strip()
    for words in _commands(asked) if asked else ((name,) for name in _COMPILERS):
        path = shutil.which(words[0])
        if path is not None:
            return (path, *words[1:])
    return None if asked else zig()


def zig() -> Command | None:
    """Return the command of Zig's C compiler, without Python's start before each run."""
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        return None
    path = shutil.which("zig", path=str(Path(package.origin).parent))
    return None if path is None else (path, "cc")


def _commands(asked: str) -> list[Command]:
    """Return what ``$CC`` may mean: a path with spaces, or words."""
    try:
        # elsewhere a backslash is a part of a path
        words = tuple(shlex.split(asked, posix=os.sep == "/"))
    except ValueError:
        words = ()
    return [(asked,), *([words] if words else [])]


def c_files() -> list[Path]:
    """Return what is compiled."""
    return sorted(SOURCES.rglob("*.c"))


@cache
def accepted_flags(compiler: Command, flags: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return those of some flags that a compiler takes; None where it compiles nothing at all.

    It is asked for all flags, then for each.
    """
    if _takes(compiler, flags):
        return flags
    if not _takes(compiler, ()):
        return None
    return tuple(flag for flag in flags if _takes(compiler, (flag,)))


def _takes(compiler: Command, flags: tuple[str, ...]) -> bool:
    with suppress(OSError), tempfile.TemporaryDirectory() as folder:
        # clang only warns of some; Zig's links what is only to be checked
        made = ["-x", "c", "-c", "-", "-o", os.path.join(folder, "nothing.o")]
        command = [*compiler, "-Werror", *flags, *made]
        return not subprocess.run(command, input=b"", capture_output=True, check=False).returncode
    return False


@cache
def hash_of_sources(machine: str = platform.machine()) -> str:
    """Return a hash of what is compiled, how, and for which kind of machine."""
    digest = hashlib.sha256(" ".join((machine, *FLAGS)).encode())
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in (".c", ".h", ".inc"):
            name = path.relative_to(SOURCES).as_posix()
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


@cache
def hash_of_compiler(compiler: Command) -> str:
    """Return a hash of a compiler and its version."""
    message = subprocess.run([*compiler, "--version"], capture_output=True, check=False).stdout
    about = "\0".join((os.path.realpath(compiler[0]), *compiler[1:]))
    return hashlib.sha256(about.encode() + message).hexdigest()[:12]


def library_name(made_by: str, machine: str = platform.machine(), suffix: str = SUFFIX) -> str:
    """Name of a library of these sources; `made_by` is a hash of the compiler, or ``*``."""
    return f"runtime-{hash_of_sources(machine)}-{made_by}{suffix}"


def compile_library(
    compiler: Command,
    made: Path,
    flags: tuple[str, ...] = FLAGS,
    machine: str = platform.machine(),
) -> None:
    """Compile the C files and link them as `made`, for a kind of machine that the compiler makes code for.

    Raises
    ------
    BuildError
        If the compiler fails.
    OSError
        If there is no room, or the compiler cannot be started.
    """
    objects = compile_objects(compiler, made.parent, flags, machine)
    # who loads it on macOS finds it by its path, not by that of the folder where it was made
    name = ["-install_name", f"@rpath/{made.name}"] if made.suffix == ".dylib" else []
    link = [*compiler, "-shared", "-pthread", *name, "-o", str(made), *map(str, objects)]
    complaint = _run([link], made.parent)
    # of other systems' libraries the loader there sees to it
    wrong = what_is_wrong_with(made) if made.suffix == SUFFIX else ""
    if wrong:
        raise BuildError(f"{' '.join(link)}\nmade {wrong}\n{complaint}")


def compile_objects(
    compiler: Command,
    folder: Path,
    flags: tuple[str, ...] = FLAGS,
    machine: str = platform.machine(),
) -> list[Path]:
    """Compile the C files side by side; return the object files in a folder."""
    sources = c_files()
    objects = [folder / f"{source.stem}.o" for source in sources]
    # which sources a library was made from: the loader looks
    flags = (
        *flags,
        *(accepted_flags(compiler, OPTIONAL_FLAGS) or ()),
        f'-DTN_SOURCES="{hash_of_sources(machine)}"',
    )
    commands = [
        [*compiler, *flags, "-c", str(source), "-o", str(out)]
        for source, out in zip(sources, objects, strict=True)
    ]
    _run(commands, folder)
    return objects


def _run(commands: Sequence[Sequence[str]], temporary: Path) -> str:
    """Run commands at the same time; return what they complain about."""
    environment = {**os.environ, **temporary_files_in(temporary)}
    processes: list[subprocess.Popen] = []
    complaints = []
    try:
        for command in commands:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment,
                encoding="utf-8",
                errors="replace",
            )
            processes.append(process)
        for command, process in zip(commands, processes, strict=True):
            _, complaint = process.communicate()
            complaints.append(complaint)
            if process.returncode and is_for_want_of_room(complaint):
                raise OSError(complaint)
            if process.returncode:
                message = complaint.strip() or f"exit status {process.returncode}"
                raise BuildError(f"{message}\nThe command was: {' '.join(command)}")
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                process.communicate()
    return "".join(complaints)


def temporary_files_in(folder: Path) -> dict[str, str]:
    """Return the variables that say where a command keeps its temporary files, on any system."""
    return dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))


def is_for_want_of_room(complaint: str) -> bool:
    """Return whether the compiler may do in another folder what it complains about."""
    return any(sign in complaint for sign in _NO_ROOM)


def what_is_wrong_with(made: Path) -> str:
    """Return what the compiler made in place of a library or an object; empty if all is well.

    A library that was cut off must not be loaded: what lacks is noticed when it is read, and ends
    the process.
    """
    try:
        with made.open("rb") as file:
            head = file.read(64)
        size = made.stat().st_size
    except FileNotFoundError:
        return "nothing"
    if head[:4] != b"\x7fELF":
        # other systems have other formats, and their loaders look
        return "no machine code" if platform.system() == "Linux" or not head else ""
    if len(head) < 64:
        return "a file that is cut off"
    wide, big = head[4] == 2, head[5] == 2
    # where the table of sections is, which linkers put last, the size of an entry, and how many
    position, layout = (0x28, "Q10xHH") if wide else (0x20, "I10xHH")
    start, entry, count = struct.unpack_from((">" if big else "<") + layout, head, position)
    return "a file that is cut off" if not start or start + entry * count > size else ""
