"""Small functions that are kept: what each takes, and what compiling one leaves behind."""

from pathlib import Path

import pytest

from tests_scan_grad.fresh_process import printed_by

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="the memory of a process is read where Linux has it",
)

MANY = """
import gc
import numpy as np
import theano
import theano.tensor as T

def resident():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

def mappings():
    with open("/proc/self/maps") as lines:
        return len(list(lines))

def function(k):
    x = T.dvector("x")
    made = [x * 2 + k, T.exp(x) - k * x, (x * k).sum() + x][k % 3]
    f = theano.function([x], made, mode="NATIVE")
    f(np.ones(3))
    return f

"""


def test_a_small_function_takes_little_memory(tmp_path):
    lines = printed_by(
        MANY
        + """
functions = [function(k) for k in range(40)]
before = resident(), mappings()
functions += [function(k) for k in range(40, 160)]
print((resident() - before[0]) / 120, mappings() - before[1])
""",
        THEANO_FLAGS=f"base_compiledir={tmp_path}",
    )
    kibibytes, mappings = map(float, lines[-1].split())
    # 60 on the machine where this was written, and 150 before
    assert kibibytes < 75
    # compiled by LLVM or the C compiler, a library for each function is three or more
    assert mappings < 60


def test_compiling_leaves_no_cycles(tmp_path):
    lines = printed_by(
        MANY
        + """
functions = [function(k) for k in range(6)]
gc.collect()
functions.append(function(6))
print(gc.collect())
""",
        THEANO_FLAGS=f"base_compiledir={tmp_path}",
    )
    # the expressions above that are not compiled, and no nodes and statements of the engine: 290 with them
    assert int(lines[-1]) < 60
