"""examples/char_rnn.py: it learns, resumes exactly, survives interruption, refuses clearly."""

import doctest
import errno
import json
import math
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))

import char_rnn  # noqa: E402
from char_model import checkpoint, model, optimizer, sampling, text  # noqa: E402
from char_model.errors import InputError  # noqa: E402
from char_model.training import Settings, Trainer  # noqa: E402

WORDS = "the loop carries its state from one character to the next".split()
TEXT = " ".join(np.random.default_rng(0).choice(WORDS, 600)) + "\n"
SMALL = ["--hidden", "12", "--batch", "4", "--truncation", "10"]
SETTINGS = Settings(
    hidden=12, batch=4, truncation=10, learning_rate=0.01, largest_gradient_norm=1.0, seed=1
)


@pytest.fixture(autouse=True)
def restore_float_type():
    """The program sets floatX for its process; here it shares one with other tests."""
    before = theano.config.floatX
    theano.config.floatX = "float32"
    yield
    theano.config.floatX = before


@pytest.fixture(scope="module")
def text_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("text") / "words.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def command(text_file: Path, folder: Path, epochs: int, *more: str) -> list[str]:
    return [
        *(sys.executable, str(EXAMPLES / "char_rnn.py"), *SMALL),
        *("--text", str(text_file), "--checkpoint", str(folder), "--epochs", str(epochs), *more),
    ]


def run(*arguments) -> str:
    done = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_same(first: checkpoint.Checkpoint, second: checkpoint.Checkpoint) -> None:
    assert first.progress == second.progress
    assert first.arrays.keys() == second.arrays.keys()
    for name, array in first.arrays.items():
        assert array.tobytes() == second.arrays[name].tobytes(), name


# The program, from the command line.


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
    endless = command(text_file, tmp_path, 1_000_000)

    def run_to_an_epoch_and_send(number: int) -> tuple[int, str]:
        with subprocess.Popen(endless, stdout=subprocess.PIPE, text=True) as process:
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


# Training, through its functions.


@pytest.fixture(scope="module")
def trainer() -> Trainer:
    before, theano.config.floatX = theano.config.floatX, "float32"
    trainer = Trainer(text.make_corpus(TEXT), SETTINGS)
    trainer.compile()
    theano.config.floatX = before
    return trainer


@pytest.fixture
def start(trainer):
    """The trainer at its first chunk, whatever an earlier test has done with it."""
    if not hasattr(trainer, "first_checkpoint"):
        trainer.first_checkpoint = trainer.checkpoint()
    trainer.restore(trainer.first_checkpoint)
    return trainer


def show_nothing(done: int, bits: float) -> None:
    pass


def test_a_stop_within_an_epoch_changes_nothing(start, tmp_path):
    for _ in range(2):
        assert start.train_epoch(show_nothing, lambda: False)
    expected = start.checkpoint()

    start.restore(start.first_checkpoint)
    stops = iter([False] * 5 + [True] + [False] * (start.chunks - 1) + [True])
    finished = []
    while start.position.epoch < 2:
        finished.append(start.train_epoch(show_nothing, lambda: next(stops, False)))
        checkpoint.save(tmp_path, start.checkpoint())
        start.restore(start.first_checkpoint)
        start.restore(checkpoint.load(tmp_path))
    assert finished.count(False) == 2
    assert_same(start.checkpoint(), expected)


def test_validation_leaves_training_as_it_was(start):
    start.train_epoch(show_nothing, lambda: start.position.chunk == 3)
    before = start.checkpoint()
    assert start.validate() == start.validate()
    assert_same(start.checkpoint(), before)


def test_a_loss_that_is_no_number_stops_training(start):
    output = start.parameters["output"]
    output.set_value(np.full_like(output.get_value(), np.nan))
    with pytest.raises(InputError, match="loss became nan in epoch 1.*--learning-rate"):
        start.train_epoch(show_nothing, lambda: False)


def test_hidden_states_follow_the_equations_of_the_gru():
    theano.config.floatX = "float64"
    generator = np.random.default_rng(3)
    parameters = model.make_parameters(5, 4, generator)
    for parameter in parameters.values():
        parameter.set_value(generator.normal(size=parameter.get_value().shape))
    value = {name: parameter.get_value() for name, parameter in parameters.items()}
    codes = generator.integers(5, size=(6, 2)).astype("int32")
    h = start = generator.normal(size=(2, 4))
    expected = []
    for row in codes:
        x = {gate: value[f"input_{gate}"][row] + value[f"bias_{gate}"] for gate in model.GATES}
        product = {gate: h @ value[f"recurrent_{gate}"] for gate in model.GATES}
        reset = 1 / (1 + np.exp(-x["reset"] - product["reset"]))
        update = 1 / (1 + np.exp(-x["update"] - product["update"]))
        new = np.tanh(x["new"] + reset * (product["new"] + value["recurrent_bias_new"]))
        h = update * h + (1 - update) * new
        expected.append(h)
    states = model.hidden_states(parameters, T.constant(codes), T.constant(start))
    computed = theano.function([], states, mode="FAST_COMPILE")()
    np.testing.assert_allclose(computed, expected, rtol=1e-12)


def test_adam_takes_the_steps_of_its_definition():
    theano.config.floatX = "float64"
    x = theano.shared(np.array([1.0, -2.0]), name="x")
    updates, state = optimizer.adam({"x": x}, [2 * x], learning_rate=0.1)
    step = theano.function([], updates=updates)
    value, mean, square = np.array([1.0, -2.0]), 0.0, 0.0
    for count in range(1, 4):
        gradient = 2 * value
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        root = np.sqrt(square / (1 - 0.999**count))
        value = value - 0.1 * mean / (1 - 0.9**count) / (root + 1e-8)
        step()
    np.testing.assert_allclose(x.get_value(), value, rtol=1e-12)
    assert state.keys() == {"adam_count", "adam_mean_x", "adam_square_x"}


@pytest.mark.parametrize(("largest", "scale"), [(1.0, 0.1), (10.0, 1.0), (20.0, 1.0)])
def test_clipping_scales_all_gradients_by_one_factor(largest, scale):
    gradients = [np.array([6.0, 0.0]), np.array([[8.0]])]  # a joint norm of 10
    clipped = optimizer.clip_by_global_norm([T.constant(g) for g in gradients], largest)
    for gradient, result in zip(gradients, theano.function([], clipped)(), strict=True):
        np.testing.assert_allclose(result, scale * gradient)


def test_clipping_leaves_zero_gradients_at_zero():
    (clipped,) = optimizer.clip_by_global_norm([T.constant(np.zeros(3))], 1.0)
    np.testing.assert_array_equal(clipped.eval(), np.zeros(3))


# Text and samples.


@pytest.mark.parametrize("offset", [0, 3])
def test_each_stream_continues_in_the_next_chunk(offset):
    inputs, targets = text.cut_chunks(np.arange(100), batch=3, truncation=4, count=2, offset=offset)
    assert inputs.shape == targets.shape == (2, 4, 3)
    np.testing.assert_array_equal(targets, inputs + 1)
    for stream in range(3):
        first = offset + 8 * stream
        np.testing.assert_array_equal(inputs[:, :, stream].ravel(), np.arange(first, first + 8))


@pytest.mark.parametrize("length", [12, 13, 24, 25, 30])
def test_every_chunk_that_is_counted_is_there(length):
    codes = np.arange(length)
    for offset in range(4):
        count = text.chunk_count(codes, batch=3, truncation=4, largest_offset=offset)
        assert count == (length - 1 - offset) // 12
        _, targets = text.cut_chunks(codes, batch=3, truncation=4, count=count, offset=offset)
        assert targets.size == 12 * count


def test_the_example_in_the_documentation_of_chunks():
    result = doctest.testmod(text, extraglobs={"np": np})
    assert result.attempted and not result.failed


def test_samples_follow_the_seed_and_the_temperature():
    likelihood = np.log([[0.5, 0.3, 0.2]])

    def draw(temperature: float, seed: int) -> str:
        generator = np.random.default_rng(seed)
        return sampling.draw_text(
            lambda codes, state: (likelihood, state), "abc", 4, 4000, temperature, generator
        )

    assert draw(1.0, 1) == draw(1.0, 1)
    assert draw(1.0, 1) != draw(1.0, 2)
    assert draw(0.01, 1) == "a" * 4000
    for character, share in zip("abc", (0.5, 0.3, 0.2), strict=True):
        assert draw(1.0, 1).count(character) / 4000 == pytest.approx(share, abs=0.03)


# What the program refuses, with one message and nothing lost.


@pytest.fixture
def refuse(capsys):
    """Run the program, expect a refusal, return its message."""

    def refuse(*arguments) -> str:
        assert char_rnn.main([str(argument) for argument in arguments]) == 1
        message = capsys.readouterr().err
        assert message.startswith("char_rnn: error: ")
        assert "Traceback" not in message
        return message

    return refuse


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


@pytest.fixture
def folder(start, tmp_path) -> Path:
    """A folder with a good checkpoint."""
    checkpoint.save(tmp_path, start.checkpoint())
    return tmp_path


@pytest.fixture
def unchanged(folder):
    """Check afterwards that the folder holds its checkpoint, and nothing else."""
    before = checkpoint.file_in(folder).read_bytes()
    yield
    assert [path.name for path in folder.iterdir()] == [checkpoint.FILE_NAME]
    assert checkpoint.file_in(folder).read_bytes() == before


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


# The twin in PyTorch.


@pytest.fixture
def torch():
    """PyTorch on one thread: two would wait for each other on a busy machine."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(before)


def test_the_twin_is_the_same_model(start, torch):
    import char_rnn_torch

    vocabulary = len(start.corpus.vocabulary)
    twin = char_rnn_torch.CharGRU(vocabulary, SETTINGS.hidden)
    generator = np.random.default_rng(5)
    for parameter in start.parameters.values():
        noise = generator.normal(scale=0.3, size=parameter.get_value().shape)
        parameter.set_value(noise.astype("float32"))
    value = {name: torch.from_numpy(p.get_value()) for name, p in start.parameters.items()}
    zeros = torch.zeros(2 * SETTINGS.hidden)
    weights = {
        "gru.weight_ih_l0": torch.cat([value[f"input_{gate}"].T for gate in model.GATES]),
        "gru.weight_hh_l0": torch.cat([value[f"recurrent_{gate}"].T for gate in model.GATES]),
        "gru.bias_ih_l0": torch.cat([value[f"bias_{gate}"] for gate in model.GATES]),
        "gru.bias_hh_l0": torch.cat([zeros, value["recurrent_bias_new"]]),
        "output.weight": value["output"].T,
        "output.bias": value["bias_output"],
    }
    twin.load_state_dict(weights)
    codes = start.corpus.validation
    count = text.chunk_count(codes, SETTINGS.batch, SETTINGS.truncation)
    chunks = text.cut_chunks(codes, SETTINGS.batch, SETTINGS.truncation, count)
    losses = [bits.item() for bits in char_rnn_torch.chunk_losses(twin, chunks, SETTINGS.batch)]
    assert start.validate() == pytest.approx(sum(losses) / count, rel=1e-5)


@pytest.mark.usefixtures("torch")
def test_the_twin_trains(text_file, capsys):
    import char_rnn_torch

    assert char_rnn_torch.main(["--text", str(text_file), *SMALL, "--epochs", "2"]) == 0
    first, second = re.findall(r"training (\d+\.\d+)", capsys.readouterr().out)
    assert float(second) < float(first)
