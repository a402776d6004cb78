"""Text as the model sees it: a vocabulary, integer codes, and chunks of parallel streams."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from char_model.errors import InputError


@dataclass(frozen=True)
class Corpus:
    """A text cut in two parts, each character replaced by its index in the vocabulary."""

    vocabulary: str
    training: np.ndarray
    validation: np.ndarray
    digest: str

    @property
    def length(self) -> int:
        return len(self.training) + len(self.validation)


def read_standard_text() -> str:
    """Return the topics of Python's own help, which every full installation has."""
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise InputError(
            "this Python has no pydoc_data, the default text; give a text with --text FILE"
        ) from error
    return "\n\n".join(topics[name] for name in sorted(topics))


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the text {path}: {error.strerror}") from error
    if not content:
        raise InputError(f"the text {path} is empty")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"the text {path} is not UTF-8: byte 0x{content[error.start]:02x} "
            f"at offset {error.start} ({error.reason})"
        ) from error


def make_corpus(text: str, validation_share: float = 0.1) -> Corpus:
    """Encode a text and keep its last part for validation.

    Parameters
    ----------
    text : str
        At least one character.
    validation_share : float
        The share of the text, between 0 and 1, that training never sees.
    """
    vocabulary = "".join(sorted(set(text)))
    code_of = {character: code for code, character in enumerate(vocabulary)}
    codes = np.array([code_of[character] for character in text], dtype="int32")
    first_validation = len(codes) - int(len(codes) * validation_share)
    return Corpus(
        vocabulary=vocabulary,
        training=codes[:first_validation],
        validation=codes[first_validation:],
        digest=hashlib.sha256(text.encode("utf-8")).hexdigest(),
    )


def chunk_count(codes: np.ndarray, batch: int, truncation: int, largest_offset: int = 0) -> int:
    """Return how many chunks `cut_chunks` finds at every offset up to `largest_offset`."""
    # The last target of a stream lies one character beyond its last input.
    usable = len(codes) - 1 - largest_offset
    return max(usable, 0) // (batch * truncation)


def cut_chunks(
    codes: np.ndarray, batch: int, truncation: int, count: int, offset: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Lay a text out as parallel streams and cut them into chunks.

    Row `b` of chunk `i + 1` continues row `b` of chunk `i`, so that a hidden state
    can be carried from each chunk to the next.

    Returns
    -------
    inputs, targets : int32 arrays of shape (count, truncation, batch)
        Each target is the character after its input.

    Examples
    --------
    >>> inputs, targets = cut_chunks(np.arange(13), batch=2, truncation=3, count=2)
    >>> inputs[:, :, 1]
    array([[ 6,  7,  8],
           [ 9, 10, 11]])
    """
    size = count * truncation * batch

    def lay_out(first: int) -> np.ndarray:
        streams = codes[first : first + size].reshape(batch, count, truncation)
        return np.ascontiguousarray(streams.transpose(1, 2, 0))

    return lay_out(offset), lay_out(offset + 1)


def require_long_enough(
    corpus: Corpus, batch: int, truncation: int, validation_share: float = 0.1
) -> None:
    """Raise `InputError` unless both parts of the text hold at least one chunk."""
    enough_training = chunk_count(corpus.training, batch, truncation, truncation - 1)
    enough_validation = chunk_count(corpus.validation, batch, truncation)
    if enough_training and enough_validation:
        return
    part = "validation" if enough_training else "training"
    raise InputError(
        f"the text is too short: {corpus.length} characters, of which {part} gets "
        f"{len(getattr(corpus, part))}, hold no chunk of {batch} streams x {truncation} "
        f"characters; give a longer text or smaller --batch or --truncation"
    )
