"""A pytest plugin that writes how each test ended to a file, as JSON."""

import json
from pathlib import Path


def pytest_addoption(parser):
    parser.addoption("--outcomes", help="the file to write")


def pytest_configure(config):
    config.pluginmanager.register(Recorder(Path(config.getoption("--outcomes"))))


class Recorder:
    """Collects one outcome per test: passed, failed or skipped."""

    def __init__(self, path):
        self.path = path
        self.outcomes = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            if self.outcomes.get(report.nodeid) != "failed":
                self.outcomes[report.nodeid] = report.outcome

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid] = "failed"

    def pytest_sessionfinish(self):
        self.path.write_text(json.dumps(self.outcomes))
