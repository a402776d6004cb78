"""A pytest plugin that writes how each test ended to a file, as JSON."""

import json
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", help="the file to write")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(Path(config.getoption("--outcomes"))))


@pytest.fixture
def benchmark():
    """Stands for the fixture of pytest-benchmark: calls the function once."""
    return lambda function, *args, **kwargs: function(*args, **kwargs)


class Recorder:
    """Collects one outcome per test: passed, failed, skipped or xfailed, with a message."""

    def __init__(self, path: Path):
        self.path = path
        self.outcomes: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        if hasattr(report, "wasxfail") and report.skipped:
            outcome, message = "xfailed", report.wasxfail
        else:
            outcome, message = report.outcome, _message(report)
        if self.outcomes.get(report.nodeid, ("passed",))[0] == "passed":
            self.outcomes[report.nodeid] = outcome, message

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.outcomes[report.nodeid] = "failed", _message(report)

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps(self.outcomes))


def _message(report) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return crash.message
    return "" if report.longrepr is None else str(report.longrepr)
