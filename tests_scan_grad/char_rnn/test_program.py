"""examples/char_rnn.py from the command line: it learns, resumes exactly, survives interruption."""

import math
import signal
import subprocess

import pytest
from char_model import checkpoint

from tests_scan_grad.char_rnn.program import TEXT, assert_same, command, run


@pytest.fixture(scope="module")
def trained(text_file, tmp_path_factory):
    """Four epochs in one run: the folder and what was printed."""
    folder = tmp_path_factory.mktemp("trained")
    pytest.importorskip("matplotlib")
    more = ("--sample", "40", "--plot", str(folder / "curve.png"))
    return folder, run(text_file, folder, 4, *more)


def test_the_loss_falls_and_the_run_ends_with_a_plot_and_a_sample(trained):
    folder, output = trained
    history = checkpoint.load(folder).progress["history"]
    assert len(history) == 4
    uniform = math.log2(len(set(TEXT)))
    assert history[0]["training"] < uniform
    for part in ("training", "validation"):
        losses = [entry[part] for entry in history]
        assert losses == sorted(losses, reverse=True)
        assert losses[-1] < 0.9 * uniform
    assert f"validation {history[-1]['validation']:.3f} bits per character" in output
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    sample = output.split("temperature 0.7:\n\n")[1]
    assert len(sample) == 40 + len("\n")
    assert set(sample) <= set(TEXT)


def test_two_epochs_and_two_more_equal_four(trained, text_file, tmp_path):
    run(text_file, tmp_path, 2, "--sample", "0")
    output = run(text_file, tmp_path, 4, "--sample", "0")
    assert "after 2.00 epochs" in output
    assert_same(checkpoint.load(tmp_path), checkpoint.load(trained[0]))
    assert [path.name for path in tmp_path.iterdir()] == [checkpoint.FILE_NAME]


def test_kill_and_interrupt_leave_a_checkpoint_to_continue_from(text_file, tmp_path):
    visits_by_operation = command(text_file, tmp_path, 1_000_000)

    def run_to_an_epoch_and_send(number: int) -> tuple[int, str]:
        with subprocess.Popen(visits_by_operation, stdout=subprocess.PIPE, text=True) as process:
            printed = ""
            while "validation" not in printed:
                line = process.stdout.readline()
                assert line, printed
                printed += line
            process.send_signal(number)
            printed += process.stdout.read()
        return process.returncode, printed

    status, _ = run_to_an_epoch_and_send(signal.SIGKILL)
    assert status == -signal.SIGKILL
    kept = checkpoint.load(tmp_path).progress["position"]["epoch"]
    assert kept >= 1

    status, printed = run_to_an_epoch_and_send(signal.SIGINT)
    assert status == 128 + signal.SIGINT
    assert f"continuing from {tmp_path} after {kept}.00 epochs" in printed
    assert "the same command again continues" in printed
    assert checkpoint.load(tmp_path).progress["position"]["epoch"] > kept
