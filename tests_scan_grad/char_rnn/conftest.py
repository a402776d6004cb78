"""Fixtures that the tests of examples/char_rnn.py share."""

from pathlib import Path

import char_rnn
import pytest
from char_model import checkpoint, text
from char_model.training import Trainer

import theano
from tests_scan_grad.char_rnn.program import SETTINGS, TEXT


@pytest.fixture(autouse=True)
def restore_float_type():
    """The program sets floatX for its process; here it shares one with other tests."""
    before = theano.config.floatX
    theano.config.floatX = "float32"
    yield
    theano.config.floatX = before


@pytest.fixture(scope="package")
def text_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("text") / "words.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="package")
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
