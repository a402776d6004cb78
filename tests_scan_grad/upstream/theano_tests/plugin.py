"""The pytest plugin that runs Theano's tests on today's Python and NumPy."""

from tests_scan_grad.upstream.theano_tests.removed_names import restore

pytest_plugins = [
    "tests_scan_grad.upstream.theano_tests.collection",
    "tests_scan_grad.upstream.theano_tests.recorder",
]

restore()
