"""Progress that examples/char_rnn.py reports during training: the time left of the whole run."""

import re
from types import SimpleNamespace

import pytest
from char_model import progress

from tests_scan_grad.char_rnn.program import run


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on when a test says so."""
    clock = SimpleNamespace(now=1000.0)
    clock.monotonic = clock.perf_counter = lambda: clock.now
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_what_is_left_counts_the_epochs_that_follow(clock, monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    bar = progress.ProgressBar("epoch 1/3", total=10, characters=1, later=20)
    clock.now += 10.0
    bar.show(5, 2.0)  # half an epoch in 10 seconds: 50 for the other half and two more
    assert re.search(r"2\.000 bits/char, 0 chars/s, 50 s left of the run", capsys.readouterr().out)


def test_what_is_left_ends_with_the_time_that_the_run_has(clock, monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    bar = progress.ProgressBar("epoch 1/9", 10, 1, later=10_000, deadline=clock.now + 310.4)
    clock.now += 10.0
    bar.show(5, 2.0)
    assert "5 min left of the run" in capsys.readouterr().out


def test_without_a_terminal_there_is_a_line_now_and_then(clock, capsys):
    bar = progress.ProgressBar("epoch 1/1", 10, 1)
    bar.show(1, 3.0)
    assert capsys.readouterr().out == ""
    clock.now += progress.SECONDS_BETWEEN_LINES
    bar.show(2, 2.5)
    bar.show(3, 2.0)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 and "2.500 bits/char" in lines[0]


def test_each_sample_is_another_and_may_be_written_again(text_file, tmp_path):
    outputs = [run(text_file, tmp_path, 1, "--sample", "60") for _ in range(2)]
    samples = [output.split("temperature 0.7:\n\n")[1] for output in outputs]
    assert samples[0] != samples[1]
    seed = re.search(r"--sample-seed (\d+) writes it again", outputs[0])[1]
    again = run(text_file, tmp_path, 1, "--sample", "60", "--sample-seed", seed)
    assert again.split("temperature 0.7:\n\n")[1] == samples[0]
