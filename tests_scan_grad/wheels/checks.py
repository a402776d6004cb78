"""Checks that a wheel is what its name says: its tags, its contents, and what its library needs."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

from tests_scan_grad.fresh_process import ROOT
from tests_scan_grad.wheels.binaries import Binary, read
from theano.link.native.runtime.build import SOURCES, library_name
from theano.link.native.runtime.targets import TARGETS, Target
from theano.rewriting.disk.sealing import opened

# What each system has, and the oldest release that the tag promises.
SYSTEM_LIBRARIES = {
    "linux": {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
    | {"ld-linux-aarch64.so.1", "libc_nonshared.a"},
    "macos": {"/usr/lib/libSystem.B.dylib"},
    "windows": {
        "kernel32.dll",
        "kernelbase.dll",
        "ntdll.dll",
        "msvcrt.dll",
        "advapi32.dll",
        "user32.dll",
    },
}
OLDEST = {"linux": (2, 17), "macos": (11, 0), "windows": ()}
# Windows' C library, and the library itself, which its table of exports names.
OF_WINDOWS = ("api-ms-win-crt-", "runtime-")


def faults_of_wheel(wheel: Path, platform: str) -> list[str]:
    """Return what is wrong with a wheel for a platform of `TARGETS`."""
    target, system = TARGETS[platform], platform.partition("-")[0]
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    faults = [*_faults_of_tags(wheel, held, target), *_faults_of_contents(held)]
    libraries = [name for name in held if PurePosixPath(name).name.startswith("runtime-")]
    expected = library_name("installed", target.machine, target.suffix)
    if [PurePosixPath(name).name for name in libraries] != [expected]:
        return [*faults, f"libraries {libraries}, expected {expected}"]
    content = opened(held[libraries[0]], expected)
    if content is None:
        return [*faults, f"{expected} has no seal"]
    return [*faults, *_faults_of_library(read(content), content, target, system)]


def _faults_of_tags(wheel: Path, held: dict[str, bytes], target: Target) -> list[str]:
    faults = []
    if not wheel.name.endswith(f"-py3-none-{target.tag}.whl"):
        faults.append(f"the name {wheel.name} lacks the tag {target.tag}")
    (about,) = [name for name in held if name.endswith(".dist-info/WHEEL")]
    lines = held[about].decode().splitlines()
    tags = {line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")}
    if tags != {f"py3-none-{tag}" for tag in target.tag.split(".")}:
        faults.append(f"the tags {tags} are not those of the name")
    return faults


def _faults_of_contents(held: dict[str, bytes]) -> list[str]:
    sources = {path.relative_to(ROOT).as_posix() for path in SOURCES.rglob("*.[ch]")}
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "theano").rglob("*.py")}
    missing = sorted((wanted | sources | {"theano/py.typed"}) - held.keys())
    tops = {name.partition("/")[0] for name in held}
    others = sorted(top for top in tops if top != "theano" and not top.endswith(".dist-info"))
    return [f"lacks {name}" for name in missing] + [f"holds {name}" for name in others]


def _faults_of_library(binary: Binary, content: bytes, target: Target, system: str) -> list[str]:
    faults = []
    if binary.machine != target.machine:
        faults.append(f"the library is for {binary.machine}, not {target.machine}")
    if binary.needs > OLDEST[system]:
        faults.append(f"the library needs release {binary.needs}, the tag says {OLDEST[system]}")
    foreign = {name for name in binary.libraries if not name.startswith(OF_WINDOWS)}
    foreign -= SYSTEM_LIBRARIES[system]
    if foreign:
        faults.append(f"the library loads {sorted(foreign)}")
    if system == "macos" and not binary.own_name.startswith("@rpath/runtime-"):
        faults.append(f"the library's own name is {binary.own_name!r}")
    own = sorted(name for name in binary.undefined if name.startswith("_tn_"))
    if own:
        faults.append(f"the library lacks {own}")
    if str(ROOT).encode() in content:
        faults.append("the library holds the path of the folder where it was made")
    return faults
