"""Compile the native engine's C runtime with the package; the rest is in pyproject.toml.

Without a C compiler the package installs all the same, and runs without native code.
"""

import importlib.util
import os
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

PACKAGE = "theano.link.native.runtime"


def load_alone(path):
    """Load a module without its package, which needs what may not be installed yet."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_alone", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HERE = Path(__file__).parent
RUNTIME = HERE.joinpath(*PACKAGE.split("."))
runtime = load_alone(RUNTIME / "build.py")
# A wheel for another platform is compiled by Zig: `python -m tests_scan_grad.wheels`.
TARGET = load_alone(RUNTIME / "targets.py").TARGETS.get(os.environ.get("THEANO_SCAN_TARGET"))


def compiler():
    """Return the command of the compiler; of Zig's that for the target, without what debuggers read."""
    if TARGET is None:
        return runtime.find_compiler()
    zig = runtime.zig()
    if zig is None:
        raise SystemExit("a wheel for THEANO_SCAN_TARGET needs a compiler: pip install ziglang")
    return (*zig, "-target", TARGET.triple, "-s")


def library_name():
    """Return the name of the library that is made, as the loader looks for it there."""
    options = {} if TARGET is None else {"machine": TARGET.machine, "suffix": TARGET.suffix}
    return runtime.library_name("installed", **options)


sealing = load_alone(HERE / "theano" / "rewriting" / "disk" / "sealing.py")


class BuildRuntime(build_ext):
    """Compiles a plain library: no extension module, no part of Python's C interface."""

    def get_ext_filename(self, fullname):
        return os.path.join(*fullname.split(".")[:-1], library_name())

    def build_extension(self, extension):
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_libraries(target.parent)
        with tempfile.TemporaryDirectory(prefix="building-", dir=target.parent) as work:
            made = Path(work) / target.name
            try:
                machine = {} if TARGET is None else {"machine": TARGET.machine}
                runtime.compile_library(compiler(), made, **machine)
            except (runtime.BuildError, OSError) as error:
                raise CompileError(str(error)) from error
            seal = sealing.seal_of(made.read_bytes(), made.name)
            with made.open("ab") as file:
                file.write(seal)
            os.replace(made, target)

    def copy_extensions_to_source(self):
        remove_libraries(runtime.SOURCES)
        super().copy_extensions_to_source()


class PlatformWheel(bdist_wheel):
    """A wheel for any Python, and for one platform where it holds the library."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform if TARGET is None else TARGET.tag


def remove_libraries(folder):
    """Remove those that were built from other sources."""
    for library in folder.glob("runtime-*-installed.*"):
        library.unlink()


library = Extension(f"{PACKAGE}.library", sources=[], optional=TARGET is None)
setup(
    ext_modules=[library] if compiler() else [],
    cmdclass={"build_ext": BuildRuntime, "bdist_wheel": PlatformWheel},
)
