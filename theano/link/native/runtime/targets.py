"""Platforms that wheels are made for, each compiled by Zig on any machine.

Installing the package uses this file by itself: it imports nothing but Python's own modules.
"""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    """A platform of wheels.

    Attributes
    ----------
    triple
        The name by which Zig knows it, with the oldest release of the C library or the system.
    machine
        What ``platform.machine()`` returns there.
    suffix
        What a library's name ends with.
    tag
        The platform in the wheel's name.
    """

    triple: str
    machine: str
    suffix: str
    tag: str


TARGETS = {
    "linux-x86_64": Target(
        "x86_64-linux-gnu.2.17", "x86_64", ".so", "manylinux_2_17_x86_64.manylinux2014_x86_64"
    ),
    "linux-aarch64": Target(
        "aarch64-linux-gnu.2.17", "aarch64", ".so", "manylinux_2_17_aarch64.manylinux2014_aarch64"
    ),
    "macos-x86_64": Target("x86_64-macos.11.0", "x86_64", ".dylib", "macosx_11_0_x86_64"),
    "macos-arm64": Target("aarch64-macos.11.0", "arm64", ".dylib", "macosx_11_0_arm64"),
    "windows-x86_64": Target("x86_64-windows-gnu", "AMD64", ".dll", "win_amd64"),
}
