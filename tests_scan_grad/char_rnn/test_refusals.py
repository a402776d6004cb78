"""Cases that examples/char_rnn.py refuses, with a single message and without losing anything."""

import errno
import os
import re
import sys

import char_rnn
import pytest
from char_model import checkpoint
from char_model.errors import InputError

from tests_scan_grad.char_rnn.program import SMALL, TEXT, show_nothing


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "cannot read the text .*words.txt: No such file"),
        (b"", "the text .*words.txt is empty"),
        (b"good \xe2\x82\xac then \xff bad", "not UTF-8: byte 0xff at offset 14"),
        (b"cut short \xe2\x82", "not UTF-8: byte 0xe2 at offset 10"),
        (b"short", "too short: 5 characters"),
        (TEXT[:400].encode(), "too short: 400 characters, of which validation gets 40"),
    ],
)
def test_a_text_that_cannot_be_used(refuse, tmp_path, content, expected):
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_bytes(content)
    message = refuse("--text", path, "--checkpoint", tmp_path / "folder", *SMALL)
    assert re.search(expected, message), message
    assert not (tmp_path / "folder").exists()


def test_a_text_that_is_a_folder(refuse, tmp_path):
    assert "cannot read the text" in refuse("--text", tmp_path, "--checkpoint", tmp_path)


def fill_the_disk(monkeypatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoint.os, "fsync", fail)


@pytest.mark.usefixtures("unchanged")
def test_a_full_disk_is_noticed_before_training(refuse, text_file, folder, monkeypatch):
    fill_the_disk(monkeypatch)
    message = refuse("--text", text_file, "--checkpoint", folder, *SMALL)
    assert f"cannot write a checkpoint in {folder}: No space left" in message
    assert "the last checkpoint is kept" in message


@pytest.mark.usefixtures("unchanged")
def test_a_disk_that_fills_up_during_training(start, folder, monkeypatch):
    start.train_epoch(show_nothing, lambda: False)
    fill_the_disk(monkeypatch)
    with pytest.raises(InputError, match="No space left .*the last checkpoint is kept"):
        checkpoint.save(folder, start.checkpoint())


def test_a_folder_that_cannot_be_made(refuse, text_file):
    message = refuse("--text", text_file, "--checkpoint", text_file / "folder", *SMALL)
    assert "cannot write a checkpoint" in message or "cannot read the checkpoint" in message


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_may_not_be_written(refuse, text_file, tmp_path):
    tmp_path.chmod(0o555)
    message = refuse("--text", text_file, "--checkpoint", tmp_path, *SMALL)
    assert f"cannot write a checkpoint in {tmp_path}: Permission denied" in message


def test_a_plot_without_matplotlib(refuse, text_file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    message = refuse("--text", text_file, "--plot", tmp_path / "curve.png")
    assert "--plot needs matplotlib: python -m pip install matplotlib" in message


@pytest.mark.parametrize("name", ["nowhere/curve.png", "curve.xyz"])
def test_a_plot_that_could_not_be_written(refuse, text_file, tmp_path, name):
    pytest.importorskip("matplotlib")
    message = refuse("--text", text_file, "--plot", tmp_path / name)
    assert f"cannot write the plot {tmp_path / name}" in message


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--epochs", "0", "expected at least 1, not 0"),
        ("--hidden", "x", "invalid int value"),
        ("--learning-rate", "nan", "expected a finite number above 0"),
        ("--temperature", "0", "expected a finite number above 0"),
    ],
)
def test_a_number_out_of_range(capsys, option, value, expected):
    with pytest.raises(SystemExit) as exit:
        char_rnn.main([option, value])
    assert exit.value.code == 2
    message = capsys.readouterr().err
    assert option in message and expected in message
