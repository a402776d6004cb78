"""Texts and samples of examples/char_rnn.py."""

import doctest

import numpy as np
import pytest
from char_model import sampling, text


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
