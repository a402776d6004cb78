"""Small functions are compiled by LLVM, also where there is a C compiler: it is done first."""

from __future__ import annotations

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link import native
from theano.link.native.build import in_process, libraries, objects, optimized_later, programs
from theano.link.native.runtime.build import find_compiler

CACHES = (in_process, libraries, objects, optimized_later)
pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
GIVEN = np.linspace(0.1, 0.9, 7)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    in_process._loaded.clear()
    for module in CACHES:
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    with theano.change_flags(cache_optimizations=False):
        yield tmp_path


def compiled(make, **flags):
    x = T.dvector("x")
    with theano.change_flags({"native.compiler": "auto", "native.quick": True, **flags}):
        return theano.function([x], make(x), mode="NATIVE")


def is_by_llvm(make, **flags):
    return native.report(compiled(make, **flags)).by_llvm


def small(x):
    return T.exp(x) + x.sum()


def long(x):
    return [T.exp(x * k).sum() + T.log(x[:k]).mean() for k in range(1, 40)]


def loop(x):
    return theano.scan(lambda v, s: v + s * 0.5, [x], [T.zeros(())])[0]


def test_which_functions_are():
    assert is_by_llvm(small)
    assert not is_by_llvm(long)
    assert not is_by_llvm(loop)
    assert not is_by_llvm(small, **{"native.quick": False})
    assert not is_by_llvm(small, **{"native.compiler": "cc"})
    assert not is_by_llvm(small, **{"profile": True, "profiling.destination": "/dev/null"})


def test_without_llvm_the_compiler_compiles_them(monkeypatch):
    monkeypatch.setattr(programs, "has_llvm", lambda: False)
    f = compiled(small)
    assert not native.report(f).by_llvm
    np.testing.assert_allclose(f(GIVEN), np.exp(GIVEN) + GIVEN.sum())


def test_what_llvm_cannot_do_the_compiler_does(monkeypatch):
    def refuse(*_, **__):
        raise programs.CannotLower("anything")

    monkeypatch.setattr(programs, "library_in_process", refuse)
    assert not is_by_llvm(lambda x: small(x) * 1.5)


def test_a_program_on_disk_is_not_compiled_again(monkeypatch, folder):
    first = compiled(small)(GIVEN)
    (entry,) = folder.glob("program-*.llvm")
    in_process._loaded.clear()
    with monkeypatch.context() as patched:
        patched.setattr(in_process, "_compiled", None)
        np.testing.assert_array_equal(compiled(small)(GIVEN), first)
    entry.write_bytes(entry.read_bytes()[:-1])
    in_process._loaded.clear()
    np.testing.assert_array_equal(compiled(small)(GIVEN), first)


def segment(function):
    (native,) = [unit.run.native for unit in function.vm.units]
    return native


def test_the_compiler_follows_where_calls_take_long_enough(monkeypatch, folder):
    f = compiled(small)
    first = f(GIVEN)
    for _ in range(10):
        f(GIVEN)
    assert segment(f)._later is not None and not [*folder.glob("program-*.so")]
    segment(f)._later.seconds = programs.SECONDS_WORTH_COMPILING
    end = time.monotonic() + 120
    while segment(f)._later is not None and time.monotonic() < end:
        np.testing.assert_array_equal(f(GIVEN), first)
    assert segment(f)._later is None and [*folder.glob("program-*.so")]
    np.testing.assert_array_equal(f(GIVEN), first)
    # what it has made, the next function has at once
    assert not native.report(compiled(small)).by_llvm


def test_a_program_leaves_with_its_function():
    f = compiled(lambda x: small(x) - 12.25)
    before = len(in_process._loaded)
    assert f(GIVEN).shape == GIVEN.shape
    del f
    gc.collect()
    assert len(in_process._loaded) < before


def test_functions_of_several_threads():
    def value(k):
        return compiled(lambda x: small(x) * k)(GIVEN)

    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(value, range(24))]
    for k, each in enumerate(found):
        np.testing.assert_allclose(each, (np.exp(GIVEN) + GIVEN.sum()) * k)
