"""Machine code that LLVM wrote, in memory: many programs in few mappings, and no more than their own."""

from __future__ import annotations

import ctypes
import gc
import os

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import run_python
from tests_scan_grad.native.llvm.compiled import by_llvm, function
from theano.link.native.llvm import code_pages, elf, machine

pytestmark = pytest.mark.skipif(
    not machine.HAS_OWN_LINKER, reason="LLVM's own linker loads what it writes"
)
WITH_ALL = """
static const double table[3] = {1.5, 2.5, 4.5};
double counted = 0;
static double cells[1000];
double f(long k, double x) {
    counted += 1;
    cells[k] += x;
    return table[k] * __builtin_pow(x, 2.5) + __builtin_lgamma(x) + cells[k];
}
"""


def addresses(count):
    return [by_llvm(f"double f(double x) {{ return x + {k}; }}") for k in range(count)]


def test_constants_variables_and_functions_of_others():
    library = by_llvm(WITH_ALL)
    f = function(library, "f", ctypes.c_double, ctypes.c_int64, ctypes.c_double)
    counted = ctypes.c_double.from_address(library.address("counted"))
    expected = 4.5 * 1.25**2.5 + float(T.gammaln(1.25).eval())
    np.testing.assert_allclose([f(2, 1.25), f(2, 1.25)], [expected + 1.25, expected + 2.5])
    assert counted.value == 2
    assert library.address("table") == 0


@pytest.mark.parametrize("refused", ["format", "pages"])
def test_what_cannot_be_loaded_llvm_links(refused, monkeypatch):
    def refuse(*_):
        raise elf.NotLoadable("anything") if refused == "format" else PermissionError("no")

    monkeypatch.setattr(machine, "ObjectFile" if refused == "format" else "CodePages", refuse)
    f = function(by_llvm(WITH_ALL), "f", ctypes.c_double, ctypes.c_int64, ctypes.c_double)
    assert f(0, 1.0) == 1.5 + 1.0


def test_programs_share_a_mapping_and_nobody_can_write_them(monkeypatch):
    monkeypatch.setattr(code_pages, "_mappings", [])
    libraries = addresses(20)
    places = sorted(one.address("f") for one in libraries)
    assert places[-1] - places[0] < code_pages.MAPPING_BYTES
    assert len({place // 4096 for place in places}) == 20
    calls = [function(one, "f", ctypes.c_double, ctypes.c_double) for one in libraries]
    assert [call(0.5) for call in calls] == [k + 0.5 for k in range(20)]
    with open("/proc/self/maps") as maps:
        access = [line.split()[:2] for line in maps]
    for place in places:
        (found,) = [how for where, how in access if is_in(place, where)]
        assert found == "r-xp"


def is_in(place, where):
    begin, end = (int(number, 16) for number in where.split("-"))
    return begin <= place < end


def test_pages_of_a_program_that_is_gone_are_another_s(monkeypatch):
    # in mappings of its own: what other tests leave gives pages back at its own time
    monkeypatch.setattr(code_pages, "_mappings", [])
    kept = addresses(3)
    place = kept[1].address("f")
    del kept[1]
    gc.collect()
    others = addresses(2)
    assert place in [one.address("f") for one in others]
    mappings = len(code_pages._mappings)
    large = by_llvm("double cells[1000000]; double f(double x) { cells[3] = x; return cells[3]; }")
    assert function(large, "f", ctypes.c_double, ctypes.c_double)(2.5) == 2.5
    assert len(code_pages._mappings) == mappings + 1
    del large
    gc.collect()
    kept += addresses(1)
    assert len(code_pages._mappings) == mappings


def test_a_child_process_has_its_own_pages():
    x = T.dvector("x")
    with theano.change_flags({"native.compiler": "llvm", "cache_optimizations": False}):
        f = theano.function([x], x * 2.25, mode="NATIVE")
        child = os.fork()
        if not child:
            g = theano.function([x], x * 3.25, mode="NATIVE")
            right = f([2.0])[0] == 4.5 and g([2.0])[0] == 6.5
            os._exit(0 if right else 1)
        g = theano.function([x], x * 5.25, mode="NATIVE")
        assert os.waitpid(child, 0)[1] == 0
        assert (f([2.0])[0], g([2.0])[0]) == (4.5, 10.5)


def test_a_process_ends_in_silence():
    done = run_python(
        "import theano, theano.tensor as T\n"
        "x = T.dvector('x')\n"
        "f = theano.function([x], x * 2.25, mode='NATIVE')\n"
        "f.cycle = f\n"
        "print(f([2.0]))",
        THEANO_FLAGS="native.compiler=llvm",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[4.5]\n", "")
