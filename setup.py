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
runtime = load_alone(HERE.joinpath(*PACKAGE.split("."), "build.py"))
sealing = load_alone(HERE / "theano" / "rewriting" / "disk" / "sealing.py")


class BuildRuntime(build_ext):
    """Compiles a plain library: no extension module, no part of Python's C interface."""

    def get_ext_filename(self, fullname):
        return os.path.join(*fullname.split(".")[:-1], runtime.library_name("installed"))

    def build_extension(self, extension):
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_libraries(target.parent)
        with tempfile.TemporaryDirectory(prefix="building-", dir=target.parent) as work:
            made = Path(work) / target.name
            try:
                runtime.compile_library(runtime.find_compiler(), made)
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
        return "py3", "none", platform


def remove_libraries(folder):
    """Remove those that were built from other sources."""
    for library in folder.glob("runtime-*.so"):
        library.unlink()


library = Extension(f"{PACKAGE}.library", sources=[], optional=True)
setup(
    ext_modules=[library] if runtime.find_compiler() else [],
    cmdclass={"build_ext": BuildRuntime, "bdist_wheel": PlatformWheel},
)
