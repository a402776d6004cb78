"""A pytest plugin that writes how each of Theano's tests ended, one line of JSON each.

A line is written as soon as a test ends, so that a crash loses only the tests after it. The plugin
also runs under the Python 3.8 of a Theano 1.0.5, for comparison.
"""

from __future__ import annotations

import json


def pytest_addoption(parser):
    parser.addoption("--outcome-lines", help="the file to write")


def pytest_configure(config):
    config.pluginmanager.register(LineRecorder(config.getoption("--outcome-lines")))


class LineRecorder:
    """Writes test id, state and message.

    The state is passed, failed, skipped, or uncollected: of a module or a class that failed before
    its tests were known.
    """

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")
        self.done = set()

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            self._write(report, report.outcome)

    def pytest_collectreport(self, report):
        if not report.passed:
            self._write(report, "uncollected" if report.failed else "skipped")

    def pytest_sessionfinish(self):
        self.file.close()

    def _write(self, report, state):
        # The call's outcome is a test's, whatever its teardown says.
        if report.nodeid in self.done:
            return
        self.done.add(report.nodeid)
        line = [report.nodeid, state, _message(report)]
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


def _message(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return crash.message
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    return "" if report.longrepr is None else str(report.longrepr)[-2000:]
