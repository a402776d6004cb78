"""Functions on vectors that have their own files: which files a text of C needs."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from theano.link.native.ir.scalar_types import SUFFIX

_FOLDER = Path(__file__).parent / "included" / "functions"

# function -> its file, after those that it needs
FILES: dict[str, tuple[str, ...]] = {
    "erf": ("erf",),
    "erfc": ("pairs", "exp_pair", "scaled_erfc", "erfc_from_0", "erfc"),
    "erfcx": ("pairs", "exp_pair", "scaled_erfc", "erfcx"),
    "sin": ("rare", "angles", "sin_cos"),
    "cos": ("rare", "angles", "sin_cos"),
    "tan": ("pairs", "rare", "angles", "tan"),
    "asin": ("pairs", "arcsin_arccos"),
    "acos": ("pairs", "arcsin_arccos"),
    "atan": ("pairs", "arctan_of_quotient", "arctan"),
    "atan2": ("pairs", "arctan_of_quotient", "arctan2"),
    "exp2": ("exp2",),
    "log2": ("pairs", "log_pair", "log_bases"),
    "log10": ("pairs", "log_pair", "log_bases"),
    "sinh": ("exp_pair", "sinh_cosh"),
    "cosh": ("exp_pair", "sinh_cosh"),
    "asinh": ("pairs", "log_pair", "log_of_sum", "arcsinh"),
    "acosh": ("pairs", "log_pair", "log_of_sum", "arccosh"),
    "atanh": ("pairs", "log_pair", "log_of_sum", "arctanh"),
    "erfinv": ("pairs", "log_pair", "erfinv"),
    "erfcinv": ("pairs", "log_pair", "erfinv"),
    "i0": ("pairs", "exp_pair", "rare", "bessel_i_far", "bessel_i"),
    "i1": ("pairs", "exp_pair", "rare", "bessel_i_far", "bessel_i"),
    "gamma": ("pairs", "exp_pair", "log_pair", "rare", "gamma"),
    "gammaln": ("pairs", "log_pair", "rare", "gammaln"),
    "psi": ("log_pair", "rare", "psi"),
    "trigamma": ("pairs", "rare", "trigamma"),
    "power": ("pairs", "exp_pair", "log_pair", "rare", "power"),
    "remainder": ("rare", "remainder"),
    "floor_division": ("rare", "remainder"),
}
# float32 with its own files
FILES_OF_SINGLES: dict[str, tuple[str, ...]] = {
    "erf": ("look_up", "erf_of_singles"),
    "erfc": (
        *("pairs", "exp_pair", "scaled_erfc", "erfc_from_0"),
        *("rare", "look_up", "erfc_of_singles"),
    ),
    "atan": ("arctan_of_singles",),
    "i0": ("pairs", "exp_pair", "rare", "bessel_i_far", "bessel_i_of_singles"),
    "i1": ("pairs", "exp_pair", "rare", "bessel_i_far", "bessel_i_of_singles"),
}
# whose float32 is the float64, rounded
WIDENED = frozenset(("erfcx", "gamma", "gammaln", "i0", "i1", "psi", "trigamma"))
# each file once, those that others need before them
_SHARED = (
    "pairs",
    "rare",
    "exp_pair",
    "log_pair",
    "log_of_sum",
    "scaled_erfc",
    "angles",
    "arctan_of_quotient",
    "look_up",
)
_OWN = (*FILES.values(), *FILES_OF_SINGLES.values())
_ORDER = list(dict.fromkeys((*_SHARED, *(name for names in _OWN for name in names))))

# a function of vectors or of one number, and the beginning of its name
_CALL = re.compile(rf"tn_[vs]_({'|'.join(FILES)})_(f\d\d)")
# what a file, which is written for float64, holds for float32
_OF_SINGLES = (("f64", "f32"), ("F64", "F32"), ("double", "float"), ("tn_u64v", "tn_u32v"))


def called_functions(text: str) -> list[str]:
    """Return the files of functions that a text calls, after the polynomials that these evaluate."""
    return list(_files(tuple(sorted(set(_CALL.findall(text))))))


def all_functions() -> list[str]:
    """Return the files of all functions."""
    return list(_files(tuple((name, suffix) for name in FILES for suffix in SUFFIX.values())))


@functools.cache
def _files(called: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    widened = [function for function, suffix in called if function in WIDENED and suffix == "f32"]
    needed = {one for function, suffix in called for one in _needed(function, suffix)}
    order = sorted(needed, key=lambda one: (one[1], _ORDER.index(one[0])))
    files = [_file(name, suffix) for name, suffix in order]
    wanted = {name for file in files for name in re.findall(r"tn_p_\w+", file)}
    polynomials = _content("polynomials").split("\n\n")
    used = [one for one in polynomials if not wanted.isdisjoint(re.findall(r"tn_p_\w+", one))]
    opening = [_content("of_type")] if files else []
    macros = [_content("widened"), *map(_widening, widened)] if widened else []
    return (*opening, *used, *files, *macros)


def _needed(function: str, suffix: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a function, and of which type each is."""
    own = FILES_OF_SINGLES if suffix == "f32" and function in FILES_OF_SINGLES else FILES
    of_type = "f64" if function in WIDENED else suffix
    yield from ((name, of_type) for name in own[function])


def _widening(function: str) -> str:
    of_double = f"{function}_of_single" if function in FILES_OF_SINGLES else function
    return f"TN_WIDENED({function}, {of_double})"


def _file(name: str, suffix: str) -> str:
    text = _content(name)
    if suffix == "f32":
        for of_double, of_single in _OF_SINGLES:
            text = text.replace(of_double, of_single)
    return text


@functools.cache
def _content(name: str) -> str:
    return (_FOLDER / f"{name}.inc").read_text(encoding="utf-8")
