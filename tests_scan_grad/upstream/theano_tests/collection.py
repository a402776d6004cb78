"""A pytest plugin that collects Theano 1.0's tests as nose collected them.

The fetched folder holds only the tests; ``theano.<package>.tests`` is imported from there, all
else of ``theano`` from where it is installed. The plugin also runs under the Python 3.8 of a
Theano 1.0.5, for comparison.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import inspect
import re
import sys
import unittest
from pathlib import Path

import pytest
from _pytest.unittest import UnitTestCase

# What nose takes for the name of a test
TEST_NAME = re.compile(r"(?:^|[\b_./-])[Tt]est")


def pytest_addoption(parser):
    parser.addoption("--theano-tests", help="the folder with the fetched tests")


def pytest_configure(config):
    folder = config.getoption("--theano-tests")
    sys.meta_path.insert(0, TestPackages(Path(folder)))


class TestPackages(importlib.abc.MetaPathFinder):
    """Finds ``theano.<package>.tests`` in the fetched folder."""

    __test__ = False

    def __init__(self, folder: Path):
        self.folder = folder

    def find_spec(self, fullname, path, target=None):
        if not fullname.startswith("theano.") or not fullname.endswith(".tests"):
            return None
        package = self.folder.joinpath(*fullname.split("."))
        if not package.is_dir():
            return None
        return importlib.util.spec_from_file_location(
            fullname, package / "__init__.py", submodule_search_locations=[str(package)]
        )


def pytest_collect_directory(path, parent):
    # Not a package: it would be imported by its path.
    return pytest.Dir.from_parent(parent, path=path)


def pytest_pycollect_makemodule(module_path, parent):
    return TheanoModule.from_parent(parent, path=module_path)


class TheanoModule(pytest.Module):
    """A module of tests, imported by its name in Theano."""

    def _getobj(self):
        parts = self.path.with_suffix("").relative_to(self.config.rootpath).parts
        module = importlib.import_module(".".join(parts))
        _name_test_classes(module)
        return module


def _name_test_classes(module):
    """Name test classes as the module does; some are named after how an operator prints."""
    for name, value in vars(module).items():
        if inspect.isclass(value) and getattr(value, "check_name", False):
            value.__name__ = name


def pytest_pycollect_makeitem(collector, name, obj):
    if inspect.isclass(obj):
        return _class(collector, name, obj)
    if not callable(obj) or not getattr(obj, "__test__", True):
        return None
    if not TEST_NAME.search(getattr(obj, "__name__", name)) and not TEST_NAME.search(name):
        return []
    if inspect.isgeneratorfunction(obj):
        return YieldedTests.from_parent(collector, name=name)
    return None


def _class(collector, name, cls):
    of_unittest = issubclass(cls, unittest.TestCase)
    if name.startswith("_") or not getattr(cls, "__test__", True):
        return []
    if not of_unittest and not TEST_NAME.search(name):
        return []
    return (TestCaseClass if of_unittest else PlainClass).from_parent(collector, name=name)


class ClassOfModule:
    """A class of tests; one from elsewhere becomes one of the module, as nose does it.

    A test may look for its class in its module.
    """

    def _getobj(self):
        cls = super()._getobj()
        module = self.getparent(pytest.Module).obj.__name__
        if cls.__module__ == module:
            return cls
        return type(cls)(cls.__name__, (cls,), {"__module__": module})


class TestCaseClass(ClassOfModule, UnitTestCase):
    """A ``unittest.TestCase``."""


class PlainClass(ClassOfModule, pytest.Class):
    """Any other class."""


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item):
    """Call ``setUp`` of a class that is no ``TestCase``, which nose did."""
    instance = getattr(item, "instance", None)
    if instance is not None and not isinstance(instance, unittest.TestCase):
        getattr(instance, "setUp", lambda: None)()


class YieldedTests(pytest.Collector):
    """The tests that a generator yields: a function and its arguments, or a function alone."""

    def collect(self):
        owner = self.parent.obj
        if inspect.isclass(owner):
            # What it yields may be made of what this sets.
            getattr(owner, "setup_class", lambda: None)()
            owner = owner()
        for number, test in enumerate(getattr(owner, self.name)()):
            function, *arguments = test if isinstance(test, tuple) else (test,)
            yield YieldedTest.from_parent(
                self,
                name=f"{self.name}[{number}]",
                call=lambda function=function, arguments=arguments: function(*arguments),
            )


class YieldedTest(pytest.Item):
    """One of the tests that a generator yields."""

    def __init__(self, *, call, **kwargs):
        super().__init__(**kwargs)
        self.call = call

    def runtest(self):
        instance = self.parent.parent.obj
        if inspect.isclass(instance) and hasattr(instance, "setUp"):
            instance().setUp()
        self.call()

    def reportinfo(self):
        return self.path, None, self.name
