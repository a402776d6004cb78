"""Checkpoints of examples/char_rnn.py that are of something else, damaged, or half written."""

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from char_model import checkpoint
from char_model.errors import InputError

from tests_scan_grad.char_rnn import EXAMPLES
from tests_scan_grad.char_rnn.program import SMALL, TEXT


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--hidden", "13", "hidden: 12 in the checkpoint, 13 now"),
        ("--batch", "5", "batch: 4 in the checkpoint, 5 now"),
        ("--truncation", "9", "truncation: 10 in the checkpoint, 9 now"),
        ("--seed", "2", "seed: 1 in the checkpoint, 2 now"),
    ],
)
def test_a_checkpoint_of_another_model(refuse, text_file, folder, option, value, expected):
    message = refuse("--text", text_file, "--checkpoint", folder, *SMALL, option, value)
    assert f"{checkpoint.file_in(folder)}: the checkpoint is of another model" in message
    assert expected in message
    assert "--fresh" in message


@pytest.mark.usefixtures("unchanged")
def test_a_checkpoint_of_another_text(refuse, folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("other") / "other.txt"
    path.write_text(TEXT.replace("loop", "LOOP"), encoding="utf-8")
    message = refuse("--text", path, "--checkpoint", folder, *SMALL)
    assert re.search(r"text: \d+ characters with SHA-256 \w+ in the checkpoint", message)
    assert "vocabulary:" in message


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip_a_byte(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [cut_short, flip_a_byte, lambda content: b"", lambda c: b"?"])
def test_a_damaged_checkpoint(refuse, text_file, folder, damage):
    path = checkpoint.file_in(folder)
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    message = refuse("--text", text_file, "--checkpoint", folder, *SMALL)
    assert f"the checkpoint {path} is truncated or damaged" in message
    assert path.read_bytes() == damaged


def test_a_file_of_arrays_that_is_no_checkpoint(refuse, text_file, tmp_path):
    np.savez(checkpoint.file_in(tmp_path), weights=np.zeros(3))
    message = refuse("--text", text_file, "--checkpoint", tmp_path, *SMALL)
    assert "is truncated or damaged" in message


def changed(folder: Path, change) -> Path:
    """The folder's checkpoint, with its arrays and its progress changed."""
    path = checkpoint.file_in(folder)
    saved = checkpoint.load(folder)
    arrays, progress = dict(saved.arrays), dict(saved.progress)
    change(arrays, progress)
    np.savez(path, **arrays, **{checkpoint.PROGRESS_KEY: np.array(json.dumps(progress))})
    return path


def reshape(arrays: dict, progress: dict) -> None:
    arrays["output"] = arrays["output"][:-1]


def widen(arrays: dict, progress: dict) -> None:
    arrays["output"] = arrays["output"].astype("float64")


def take_away(arrays: dict, progress: dict) -> None:
    del arrays["bias_output"]


def without(key: str):
    return lambda arrays, progress: progress.pop(key)


def in_place_of(key: str, value: object):
    return lambda arrays, progress: progress.update({key: value})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (reshape, r"output: shape \(11, \d+\) of float32 in the checkpoint, shape \(12, "),
        (widen, "output: shape .* of float64 in the checkpoint"),
        (take_away, "bias_output: missing in the checkpoint"),
        (without("identity"), "hidden: missing in the checkpoint"),
        (in_place_of("identity", [1]), "hidden: missing in the checkpoint"),
        (without("position"), "does not say how far"),
        (in_place_of("position", {"epochs": 1}), "does not say how far"),
        (in_place_of("position", {"epoch": "1"}), "does not say how far"),
        (in_place_of("history", 5), "does not say how far"),
        (in_place_of("history", [{"training": 1}]), "does not say how far"),
        (in_place_of("generator", {"bit_generator": "MT19937"}), "does not say how far"),
        (in_place_of("generator", None), "does not say how far"),
    ],
)
def test_a_checkpoint_that_was_changed(refuse, text_file, folder, change, expected):
    path = changed(folder, change)
    message = refuse("--text", text_file, "--checkpoint", folder, *SMALL)
    assert f"{path}: " in message and re.search(expected, message), message
    assert "--fresh" in message


def one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def packed_and_cut(path: Path) -> None:
    np.savez_compressed(path, weights=np.arange(10000.0))
    path.write_bytes(path.read_bytes().replace(b"x", b"y", 5))


def of_objects(path: Path) -> None:
    np.savez(path, weights=np.array([{}], dtype=object))


def no_arrays(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("letter.txt", "dear reader")


def no_table(path: Path) -> None:
    np.savez(path, **{checkpoint.PROGRESS_KEY: np.array("[" * 100000)})


@pytest.mark.parametrize("write", [one_array, packed_and_cut, of_objects, no_arrays, no_table])
def test_a_file_of_another_program(refuse, text_file, tmp_path, write):
    write(checkpoint.file_in(tmp_path))
    message = refuse("--text", text_file, "--checkpoint", tmp_path, *SMALL)
    assert "is truncated or damaged" in message and "--fresh" in message


def test_checkpoints_with_changed_bytes_are_read_or_refused(folder):
    path = checkpoint.file_in(folder)
    whole, random, refused = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(300):
        content = bytearray(whole)
        for place in random.integers(len(content), size=3):
            content[place] = random.integers(256)
        path.write_bytes(content[: random.integers(1, 2 * len(content))])
        try:
            checkpoint.load(folder)
        except InputError:
            refused += 1
    assert refused > 200


def test_a_folder_in_the_place_of_the_file(refuse, text_file, tmp_path):
    checkpoint.file_in(tmp_path).mkdir()
    message = refuse("--text", text_file, "--checkpoint", tmp_path, *SMALL)
    assert "cannot read the checkpoint" in message and "Is a directory" in message


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read")
def test_a_checkpoint_that_may_not_be_read(refuse, text_file, folder):
    checkpoint.file_in(folder).chmod(0)
    message = refuse("--text", text_file, "--checkpoint", folder, *SMALL)
    assert "cannot read the checkpoint" in message and "Permission denied" in message


SAVE_AND_DIE = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np
from char_model import checkpoint
np.savez = lambda file, **_: [file.write(b"half"), file.flush(), os.kill(os.getpid(), 9)]
checkpoint.save(Path(sys.argv[2]), checkpoint.Checkpoint({}, {}))
"""


def test_what_a_killed_save_left_is_removed_at_the_next_start(start, folder):
    done = subprocess.run([sys.executable, "-c", SAVE_AND_DIE, str(EXAMPLES), str(folder)])
    assert done.returncode == -signal.SIGKILL
    (left,) = set(folder.iterdir()) - {checkpoint.file_in(folder)}
    living = folder / f"{checkpoint.FILE_NAME}.{os.getpid()}.tmp"
    another = folder / f"{checkpoint.FILE_NAME}.of-mine.tmp"
    living.touch()
    another.touch()
    checkpoint._remove_leftovers(folder)
    assert not left.exists() and living.exists() and another.exists()
    living.unlink()
    another.unlink()
    checkpoint.require_writable(folder, start.checkpoint())
    assert [path.name for path in folder.iterdir()] == [checkpoint.FILE_NAME]
