"""Compile the C runtime, and find one that was compiled before.

A library is named by hashes of its sources, flags and machine, and of the compiler. It appears
whole, by a rename, so that processes that build at once do not disturb one another, and ends with
a hash of itself, so that a damaged one is seen and built again.
Installing the package uses this file by itself: it imports nothing but Python's own modules.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
FLAGS = ("-std=gnu11", "-O3", "-fPIC", "-pthread", "-ffp-contract=fast")
_COMPILERS = ("cc", "gcc", "clang")
_HASH_BYTES = hashlib.sha256().digest_size


class BuildError(RuntimeError):
    """The C compiler could not build the runtime; the message holds what it said."""


def find_compiler() -> str | None:
    """Path of the C compiler: ``$CC`` where it is set, else ``cc``, ``gcc`` or ``clang``."""
    asked = os.environ.get("CC")
    for name in (asked,) if asked else _COMPILERS:
        path = shutil.which(name)
        if path is not None:
            return path
    return None


@cache
def _hash_of_sources() -> str:
    digest = hashlib.sha256(" ".join((platform.machine(), *FLAGS)).encode())
    for path in sorted(SOURCES.iterdir()):
        if path.suffix in (".c", ".h", ".inc"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


@cache
def _hash_of_compiler(compiler: str) -> str:
    said = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    return hashlib.sha256(os.path.realpath(compiler).encode() + said).hexdigest()[:12]


def library_name(made_by: str) -> str:
    """Name of a library of these sources; `made_by` is a hash of the compiler, or ``*``."""
    return f"runtime-{_hash_of_sources()}-{made_by}.so"


def find_library(folder: Path, compiler: str | None) -> Path | None:
    """A whole library in `folder` made by `compiler`, or by any where `compiler` is None."""
    made_by = "*" if compiler is None else _hash_of_compiler(compiler)
    return next(filter(is_whole, sorted(folder.glob(library_name(made_by)))), None)


def build(folder: Path, compiler: str) -> Path:
    """Compile the runtime into `folder` and return the library's path.

    Raises
    ------
    OSError
        If `folder` cannot be written.
    BuildError
        If the compiler fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / library_name(_hash_of_compiler(compiler))
    with tempfile.TemporaryDirectory(prefix="building-", dir=folder) as work:
        made = Path(work) / path.name
        compile_library(compiler, made)
        seal(made)
        os.replace(made, path)
    return path


def seal(library: Path) -> None:
    """Write a hash of a library at its end, where the loader does not look."""
    digest = hashlib.sha256(library.read_bytes()).digest()
    with library.open("ab") as file:
        file.write(digest)


def is_whole(library: Path) -> bool:
    """Whether a library is there, and as it was sealed."""
    try:
        content = library.read_bytes()
    except OSError:
        return False
    body, tail = content[:-_HASH_BYTES], content[-_HASH_BYTES:]
    return hashlib.sha256(body).digest() == tail


def compile_library(compiler: str, made: Path, flags: tuple[str, ...] = FLAGS) -> None:
    """Compile the C files side by side and link them as `made`."""
    sources = sorted(SOURCES.glob("*.c"))
    objects = [made.with_name(source.stem + ".o") for source in sources]
    commands = [
        [compiler, *flags, "-c", str(source), "-o", str(out)]
        for source, out in zip(sources, objects, strict=True)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(_run, commands))
    _run([compiler, "-shared", "-pthread", "-o", str(made), *map(str, objects)])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        if "No space left on device" in done.stderr:
            raise OSError(done.stderr)
        raise BuildError(f"{' '.join(command)}\nfailed:\n{done.stderr}")
