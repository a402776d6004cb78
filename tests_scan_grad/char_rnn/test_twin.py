"""The twin of examples/char_rnn.py in PyTorch."""

import re

import numpy as np
import pytest
from char_model import model, text

from tests_scan_grad.char_rnn.program import SETTINGS, SMALL


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
