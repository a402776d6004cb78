"""The pytest plugin that runs Theano's tests on today's Python and NumPy."""

import sys

from tests_scan_grad.upstream.theano_tests.edited_sources import EditedModules
from tests_scan_grad.upstream.theano_tests.removed_names import restore

pytest_plugins = [
    "tests_scan_grad.upstream.theano_tests.collection",
    "tests_scan_grad.upstream.theano_tests.recorder",
]

restore()


def pytest_configure(config):
    # before pytest's own finder, which compiles modules from their files
    sys.meta_path.insert(0, EditedModules())
