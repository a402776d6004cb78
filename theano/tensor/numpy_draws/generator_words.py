"""NumPy's `Generator` as a vector of words, which native code can draw from.

The words are the state of its bit generator, as that keeps it in memory, behind what draws from it:
the addresses of the bit generator's functions and of NumPy's distributions. So a copy of the words is
a copy of the generator, and what is drawn is what NumPy draws.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
from numpy.random import Generator

from theano.data_classes import dataclass

__all__ = ["FUNCTIONS", "generator_of", "store_words", "why_no_words", "words_of"]

# NumPy's functions for C (numpy/random/distributions.h), in the order of tn_numpy in
# generator_words.inc
FUNCTIONS = (
    "standard_normal",
    "normal",
    "lognormal",
    "uniform",
    "exponential",
    "gamma",
    "beta",
    "weibull",
    "logistic",
    "laplace",
    "gumbel",
    "vonmises",
    "wald",
    "standard_t",
    "triangular",
    "poisson",
    "negative_binomial",
    "geometric",
    "hypergeometric",
    "binomial",
    "bounded_uint64",
    "interval",
    "standard_uniform",
    "standard_gamma",
    "multinomial",
)


class _Interface(ctypes.Structure):
    """NumPy's ``bitgen_t`` (numpy/random/bitgen.h): a state, and what draws from it."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("next_uint64", ctypes.c_void_p),
        ("next_uint32", ctypes.c_void_p),
        ("next_double", ctypes.c_void_p),
        ("next_raw", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class Piece:
    """Bytes of a state: so many from an offset, or from where the pointer at an offset points."""

    offset: int
    size: int
    pointed_to: bool = False


_PCG = (Piece(0, 32, True), Piece(8, 8))

# bit generator -> its state in memory; the position is the first word, and says how it is laid out
LAYOUTS: dict[str, tuple[Piece, ...]] = {
    "MT19937": (Piece(0, 2500),),
    "SFC64": (Piece(0, 40),),
    "PCG64": _PCG,
    "PCG64DXSM": _PCG,
    "Philox": (Piece(0, 32, True), Piece(8, 16, True), Piece(16, 48)),
}
_NAMES = tuple(LAYOUTS)
# the layout, the table of distributions, and the functions of the bit generator
_BEFORE_STATE = 6


def words_of(generator: Generator) -> np.ndarray:
    """Return the words of a generator: a vector of uint64.

    Raises
    ------
    TypeError
        If its bit generator is none of NumPy's own.
    """
    bits = generator.bit_generator
    name = type(bits).__name__
    if reason := why_no_words(name):
        raise TypeError(f"no native draws from {generator!r}: {reason}")
    pieces, interface = LAYOUTS[name], _interface(bits)
    bytes_of_state = sum(piece.size for piece in pieces)
    words = np.zeros(_BEFORE_STATE + (bytes_of_state + 7) // 8, "uint64")
    words[0], words[1] = _NAMES.index(name), _table()
    here = words.ctypes.data
    ctypes.memmove(here + 16, ctypes.addressof(interface) + 8, 32)
    here += 8 * _BEFORE_STATE
    for piece in pieces:
        ctypes.memmove(here, _address(interface, piece), piece.size)
        here += piece.size
    return words


def store_words(words: np.ndarray, generator: Generator) -> None:
    """Give a generator the state that words have; it has the bit generator that they are of."""
    interface = _interface(generator.bit_generator)
    words = np.ascontiguousarray(words)
    here = words.ctypes.data + 8 * _BEFORE_STATE
    with generator.bit_generator.lock:
        for piece in LAYOUTS[_NAMES[int(words[0])]]:
            ctypes.memmove(_address(interface, piece), here, piece.size)
            here += piece.size


def generator_of(words: np.ndarray) -> Generator:
    """Return a generator with the state that words have."""
    bits = getattr(np.random, _NAMES[int(words[0])])(0)
    generator = Generator(bits)
    store_words(words, generator)
    return generator


@cache
def why_no_words(name: str) -> str:
    """Return why generators with a bit generator of this name have no words; empty if they have.

    How it keeps its state is tried out: it is no part of what NumPy promises.
    """
    if name not in LAYOUTS:
        return f"the bit generator {name} is none of {', '.join(LAYOUTS)}"
    if not _table():
        return f"NumPy {np.__version__} does not export its distributions"
    first, second = (Generator(getattr(np.random, name)(seed)) for seed in (1, 2))
    # half a word is left
    first.integers(9, dtype="uint32")
    pieces = LAYOUTS[name]
    interfaces = [_interface(generator.bit_generator) for generator in (first, second)]
    for piece in pieces:
        source, target = (_address(interface, piece) for interface in interfaces)
        ctypes.memmove(target, source, piece.size)
    drawn = [[*one.integers(9, size=3, dtype="uint32"), *one.random(9)] for one in (first, second)]
    if drawn[0] != drawn[1]:
        return f"NumPy {np.__version__} keeps the state of {name} in another way"
    return ""


def _interface(bits: np.random.BitGenerator) -> _Interface:
    return _Interface.from_address(_pointer_of(bits.capsule, b"BitGenerator"))


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _address(interface: _Interface, piece: Piece) -> int:
    state = interface.state or 0
    if piece.pointed_to:
        return ctypes.c_void_p.from_address(state + piece.offset).value or 0
    return state + piece.offset


@cache
def _functions() -> ctypes.Array | None:
    """The addresses of NumPy's distributions, as its module of generators exports them."""
    module = ctypes.CDLL(np.random._generator.__file__)
    try:
        found = [getattr(module, f"random_{name}") for name in FUNCTIONS]
    except AttributeError:
        return None
    addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in found]
    return (ctypes.c_void_p * len(found))(*addresses)


@cache
def _table() -> int:
    functions = _functions()
    return 0 if functions is None else ctypes.addressof(functions)
