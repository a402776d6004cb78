"""Arrays that processes send each other by `theano.tensor.io`."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor.io import MPIRecv, MPISend, irecv, isend, recv, send

# Each of two processes adds up, over the steps, what it has and what the other sent.
PROGRAM = """
import sys
from pathlib import Path

import numpy as np
import theano
import theano.tensor as T
from theano.gof.sched import sort_schedule_fn
from theano.tensor.io import comm, irecv, isend, mpi_cmps, mpi_enabled, recv, send
from theano.tensor.io import MPIRecvWait, MPISendWait

assert mpi_enabled and comm.Get_size() == 2
me = comm.Get_rank()
other = 1 - me
ordered = theano.Mode(
    optimizer=None, linker=theano.OpWiseCLinker(schedule=sort_schedule_fn(*mpi_cmps))
)

# both ways at once, in the order that Theano's programs ask for
x = T.matrix("x", dtype="float32")
f = theano.function([x], [send(x + me, other, 11), recv((2, 3), "float32", other, 11)], mode=ordered)
given = np.arange(6, dtype="float32").reshape(3, 2).T
done, received = f(given)
assert done is True
np.testing.assert_array_equal(received, given + other)

# there and back again, in the default mode
if me == 0:
    sent, request = isend(x * 2, other, 12), irecv((3, 2), "float64", other, 13)
    first = theano.function([x], [MPISendWait(12)(*sent), T.exp(x)])
    second = theano.function([], MPIRecvWait(13)(*request).sum())
    np.testing.assert_allclose(first(given)[1], np.exp(given), rtol=1e-6)
    assert second() == 30.0
else:
    got = recv((2, 3), "float32", other, 12)
    assert theano.function([], send(got.T.astype("float64"), other, 13))() is True

# each call sends and receives again
turn = theano.function([x], send(x, other, 14))
back = theano.function([], recv((1, 1), "float32", other, 14))
for step in range(3):
    turn(np.full((1, 1), 10 * me + step, "float32"))
    assert back() == 10 * other + step
Path(sys.argv[1], f"{me} is done").touch()
"""


def why_no_mpi() -> str | None:
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed"
    if mpiexec() is None:
        return "there is no mpiexec"
    return None


def mpiexec() -> str | None:
    beside = str(Path(sys.executable).parent)
    return shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))


@pytest.mark.skipif(why_no_mpi() is not None, reason=str(why_no_mpi()))
def test_two_processes_send_each_other_arrays(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    root = Path(__file__).parents[2]
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [str(mpiexec()), "-n", "2", sys.executable, str(program), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(path.name for path in tmp_path.glob("* is done")) == ["0 is done", "1 is done"]


def test_messages_say_what_they_are():
    x = T.fmatrix("x")
    request, data = isend(x, 1, 7)
    assert str(request.owner.op) == "MPISend{dest: 1, tag: 7}" and data.type == x.type
    assert request.owner.op == MPISend(1, 7) != MPISend(1, 8)
    assert send(x, 1, 7).owner.op.tag == 7
    request, data = irecv((2, 3), "float64", 1, 7)
    name = "MPIRecv{source: 1, tag: 7, shape: (2, 3), dtype: float64}"
    assert str(request.owner.op) == name and request.owner.op == MPIRecv(1, 7, [2, 3], np.float64)
    assert recv((2, 3), "float64", 1, 7).type == T.dmatrix


def test_the_shape_of_what_is_received_is_known_before():
    # so that nobody waits for it
    f = theano.function([], recv((2, 3), "float64", 1, 7).shape)
    assert f().tolist() == [2, 3]
    assert not any(isinstance(node.op, MPIRecv) for node in f.maker.fgraph.apply_nodes)


def test_messages_have_no_derivatives():
    x = T.dvector("x")
    with pytest.raises(theano.gradient.NullTypeGradError):
        theano.grad(isend(x, 1, 7)[1].sum(), x)


def test_without_mpi_the_error_names_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    assert theano.tensor.io.mpi_enabled is False
    assert not hasattr(theano.tensor.io, "comm")
    f = theano.function([], recv((2,), "float64", 1, 7))
    with pytest.raises(ImportError, match=r"send and recv need mpi4py and an MPI"):
        f()
