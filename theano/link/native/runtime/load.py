"""Build the C runtime once for this user and load it.

The library lies in a cache folder under a name that holds a hash of its sources, the flags and
the compiler. Beside it lies a small index file with the library's own hash, so that a damaged
library is seen and built again, and two processes that build at once both end with a whole one.
"""

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from pytensor.configdefaults import config

SOURCES = Path(__file__).resolve().parent
FLAGS = ("-std=gnu11", "-O3", "-fPIC", "-pthread", "-ffp-contract=fast")
_COMPILERS = ("cc", "gcc", "clang")

_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None


class NoCompiler(RuntimeError):
    """There is no C compiler, and no library that was built before."""


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


def cache_folder() -> Path:
    """Folder of what the native engine compiles: ``native`` in the flag ``base_compiledir``."""
    return Path(config.base_compiledir) / "native"


def symbol(name: str) -> int:
    """Address of a function of the runtime.

    Parameters
    ----------
    name : str
        Name in ``runtime.h``, such as ``"tn_gemm_packed_f32"``.

    Raises
    ------
    AttributeError
        If the runtime has no such function.
    """
    address = ctypes.cast(getattr(library(), name), ctypes.c_void_p).value
    assert address is not None
    return address


def library() -> ctypes.CDLL:
    """The loaded runtime, built first where need be.

    Raises
    ------
    NoCompiler
        If there is no C compiler.
    BuildError
        If the compiler fails.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load(cache_folder())
        return _loaded


def _load(folder: Path) -> ctypes.CDLL:
    compiler = find_compiler()
    path = find_library(folder, compiler)
    if path is not None:
        return ctypes.CDLL(str(path))
    if compiler is None:
        raise NoCompiler(
            "the native engine needs a C compiler, and neither cc, gcc nor clang (nor what the "
            "environment variable CC names) was found. Install one: 'apt install gcc' on Debian "
            "and Ubuntu, 'dnf install gcc' on Fedora, 'xcode-select --install' on macOS, 'conda "
            "install c-compiler' in a conda environment."
        )
    try:
        return ctypes.CDLL(str(build(folder, compiler)))
    except OSError:
        # A cache folder that is read-only or full: this process builds for itself.
        with tempfile.TemporaryDirectory(prefix="theano-native-") as own:
            return ctypes.CDLL(str(build(Path(own), compiler)))


@cache
def _hash_of_sources() -> str:
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for path in sorted(SOURCES.iterdir()):
        if path.suffix in (".c", ".h", ".inc"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


@cache
def _hash_of_compiler(compiler: str) -> str:
    said = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    return hashlib.sha256(os.path.realpath(compiler).encode() + said).hexdigest()[:12]


def find_library(folder: Path, compiler: str | None) -> Path | None:
    """A whole library in `folder` made by `compiler`, or by any where `compiler` is None."""
    made_by = "*" if compiler is None else _hash_of_compiler(compiler)
    for index in sorted(folder.glob(f"runtime-{_hash_of_sources()}-{made_by}.json")):
        try:
            expected = json.loads(index.read_text())["sha256"]
            path = folder / f"runtime-{expected[:32]}.so"
            if hashlib.sha256(path.read_bytes()).hexdigest() == expected:
                return path
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


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
    with tempfile.TemporaryDirectory(prefix="building-", dir=folder) as work:
        made = Path(work) / "runtime.so"
        compile_library(compiler, made)
        digest = hashlib.sha256(made.read_bytes()).hexdigest()
        path = folder / f"runtime-{digest[:32]}.so"
        os.replace(made, path)
        index = Path(work) / "index.json"
        index.write_text(json.dumps({"sha256": digest}))
        name = f"runtime-{_hash_of_sources()}-{_hash_of_compiler(compiler)}.json"
        os.replace(index, folder / name)
    return path


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
