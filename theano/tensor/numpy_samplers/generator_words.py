"""NumPy's `Generator` as a vector of words, which native code can draw from.

The words are the state of its bit generator, as that keeps it in memory, behind what draws from it:
the addresses of the bit generator's functions and of NumPy's distributions. So a copy of the words is
a copy of the generator, and what is drawn is what NumPy draws. Of a generator whose state is kept in
another way the words are its pickle, from which Python draws.
"""

from __future__ import annotations

import ctypes
import pickle
import struct
import threading
from functools import cache

import numpy as np
from numpy.random import Generator

from theano.support.data_classes import dataclass
from theano.tensor.numpy_samplers.ufunc_loops import LOOPS, loop_of

__all__ = ["FUNCTIONS", "why_no_words", "with_words", "words_of"]

# NumPy's functions for C (numpy/random/distributions.h), in the order of tn_numpy in
# generators.inc
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
    "bounded_uint64_fill",
    "interval",
    "standard_uniform",
    "standard_gamma",
    "multinomial",
)


# NumPy's ``bitgen_t`` (numpy/random/bitgen.h): the address of a state, and of four functions
_INTERFACE = struct.Struct("@P32s")
_ADDRESS = struct.Struct("@P")


@dataclass(frozen=True)
class Piece:
    """Bytes of a state: so many from an offset, or from where the pointer at an offset points.

    Attributes
    ----------
    pointers
        The bytes of pointers that stand before it; C has them point to the words themselves.
    """

    offset: int
    size: int
    pointed_to: bool = False
    pointers: int = 0


_PCG = (Piece(0, 32, True), Piece(8, 8, pointers=8))

# bit generator -> its state in memory; its position is the second word
LAYOUTS: dict[str, tuple[Piece, ...]] = {
    "MT19937": (Piece(0, 2500),),
    "SFC64": (Piece(0, 40),),
    "PCG64": _PCG,
    "PCG64DXSM": _PCG,
    "Philox": (Piece(0, 32, True), Piece(8, 16, True), Piece(16, 48, pointers=16)),
}
_NAMES = tuple(LAYOUTS)
# before the state: 0, the layout, the table of distributions, a place for the state's address, and the
# functions of the bit generator
_BEFORE = struct.Struct("@QQPQ32s")
# before a pickle: 1, and its bytes
_BEFORE_PICKLE = struct.Struct("@QQ")


class _Memory:
    """The memory of a generator's state, and what stands before it in the words.

    Attributes
    ----------
    bits
        The bit generator, which is held so that the memory stays its own.
    before
        The bytes before the state.
    pieces
        For each piece where it is, and the bytes of pointers before it.
    """

    def __init__(self, bits: np.random.BitGenerator):
        name = type(bits).__name__
        state, functions = _interface(bits)
        self.bits = bits
        self.before = _BEFORE.pack(0, _NAMES.index(name), _table(), 0, functions)
        self.pieces = [
            ((ctypes.c_char * piece.size).from_address(_address(state, piece)), piece.pointers)
            for piece in LAYOUTS[name]
        ]


# To find out where a state is takes longer than to copy it: that of so many generators is kept.
_known: dict[int, _Memory] = {}
_MOST_KNOWN = 64


def _memory_of(bits: np.random.BitGenerator) -> _Memory:
    found = _known.get(id(bits))
    if found is None or found.bits is not bits:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[id(bits)] = _Memory(bits)
    return found


def words_of(generator: Generator) -> np.ndarray:
    """Return the words of a generator: a vector of uint64."""
    bits = generator.bit_generator
    if why_no_words(type(bits)):
        pickled = pickle.dumps(generator)
        data = _BEFORE_PICKLE.pack(1, len(pickled)) + pickled
    else:
        memory = _memory_of(bits)
        data = memory.before
        with bits.lock:
            for place, pointers in memory.pieces:
                data += bytes(pointers) + place.raw
    return np.frombuffer(data + bytes(-len(data) % 8), "uint64")


def with_words(generator: Generator, words: np.ndarray) -> Generator:
    """Return a generator in the state that words have: the one given, if it has their bit generator."""
    data = words.tobytes()
    if words[0]:
        unpickled = _unpickled(data)
        if type(unpickled.bit_generator) is not type(generator.bit_generator):
            return unpickled
        generator.bit_generator.state = unpickled.bit_generator.state
        return generator
    name = _NAMES[int(words[1])]
    if type(generator.bit_generator) is not getattr(np.random, name):
        generator = Generator(getattr(np.random, name)(0))
    bits, here = generator.bit_generator, _BEFORE.size
    memory = _memory_of(bits)
    with bits.lock:
        for place, pointers in memory.pieces:
            here += pointers
            size = len(place)
            place.raw = data[here : here + size]
            here += size
    return generator


def _unpickled(data: bytes) -> Generator:
    here = _BEFORE_PICKLE.size
    _, count = _BEFORE_PICKLE.unpack(data[:here])
    return pickle.loads(data[here : here + count])


@cache
def why_no_words(kind: type[np.random.BitGenerator]) -> str:
    """Return why C cannot draw from bit generators of a class; empty if it can.

    How it keeps its state is tried out: it is no part of what NumPy promises.
    """
    name = kind.__name__
    if name not in LAYOUTS or getattr(np.random, name) is not kind:
        return f"the bit generator {name} is none of {', '.join(LAYOUTS)}"
    if not _table():
        return f"NumPy {np.__version__} does not export its distributions"
    first, second = (Generator(kind(seed)) for seed in (1, 2))
    # half a word is left
    first.integers(9, dtype="uint32")
    source, target = (_interface(generator.bit_generator)[0] for generator in (first, second))
    for piece in LAYOUTS[name]:
        ctypes.memmove(_address(target, piece), _address(source, piece), piece.size)
    sampled = [
        [*one.integers(9, size=3, dtype="uint32"), *one.random(9)] for one in (first, second)
    ]
    if sampled[0] != sampled[1]:
        return f"NumPy {np.__version__} keeps the state of {name} in another way"
    return ""


def _interface(bits: np.random.BitGenerator) -> tuple[int, bytes]:
    """Return the address of a bit generator's state, and the addresses of its functions."""
    pointer = _pointer_of(bits.capsule, b"BitGenerator")
    return _INTERFACE.unpack(ctypes.string_at(pointer, _INTERFACE.size))


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _address(state: int, piece: Piece) -> int:
    if piece.pointed_to:
        (pointer,) = _ADDRESS.unpack(ctypes.string_at(state + piece.offset, _ADDRESS.size))
        return pointer
    return state + piece.offset


# two threads that ask first must get the same table, for its address is in words
_table_lock = threading.Lock()


def _table() -> int:
    """Return the address of the table of NumPy's distributions; 0 if its module exports none."""
    with _table_lock:
        functions = _functions()
    return 0 if functions is None else ctypes.addressof(functions)


@cache
def _functions() -> ctypes.Array | None:
    """Return the addresses of NumPy's distributions, as its module of generators exports them.

    Behind them are those of loops, each with its data.
    """
    module = ctypes.CDLL(np.random._generator.__file__)
    try:
        found = [getattr(module, f"random_{name}") for name in FUNCTIONS]
    except AttributeError:
        return None
    addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in found]
    addresses += [address for name in LOOPS for address in loop_of(name)]
    return (ctypes.c_void_p * len(addresses))(*addresses)
