"""`theano.misc` and `theano.compat`: helpers that programs import."""

import inspect
import io
import pickle
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by
from theano.compat import DefaultOrderedDict, cmp, exc_message
from theano.gof.compilelock import get_lock, release_lock
from theano.ifelse import ifelse
from theano.misc.may_share_memory import may_share_memory
from theano.misc.pkl_utils import (
    CompatUnpickler,
    PersistentNdarrayID,
    PersistentSharedVariableID,
    StripPickler,
    dump,
    load,
)
from theano.misc.strutil import render_string
from theano.raise_op import Raise
from theano.tests.disturb_mem import disturb_mem


def test_values_that_share_memory():
    sparse = pytest.importorskip("scipy.sparse")
    a, b, s = np.zeros((4, 5)), np.zeros((4, 5)), sparse.csc_matrix(np.eye(3))
    assert may_share_memory(a, a[1:].T) and not may_share_memory(a, b)
    assert may_share_memory(s, s.indptr) and not may_share_memory(s, a)
    assert not may_share_memory(a, 1, raise_other_type=False)
    with pytest.raises(TypeError, match="not <class 'int'>"):
        may_share_memory(1, a)


def test_arrays_of_a_pickle_are_files():
    w = [theano.shared(np.full(2, float(k)), name="w") for k in range(2)]
    file = io.BytesIO()
    dump((*w, np.arange(3)), file)
    file.seek(0)
    with np.load(file, allow_pickle=True) as arrays:
        assert list(arrays) == ["w", "w_2", "array_0", "pkl"]
        np.testing.assert_array_equal(arrays["w_2"], [1, 1])
    first, second, array = load(file)
    assert (first.name, second.name) == ("w", "w")
    np.testing.assert_array_equal(second.get_value(), [1, 1])
    np.testing.assert_array_equal(array, [0, 1, 2])


def test_one_array_is_written_once():
    array = np.ones(3)
    file = io.BytesIO()
    dump([array, array], file, persistent_id=PersistentNdarrayID)
    assert zipfile.ZipFile(file).namelist() == ["array_0", "pkl"]
    first, second = load(file)
    assert first is second


@pytest.mark.parametrize(
    ("names", "rule", "message"),
    [
        (["pkl"], {}, "the name 'pkl'"),
        ([None], {"allow_unnamed": False}, "unnamed"),
        (["w", "w"], {"allow_duplicates": False}, "with the name 'w'"),
    ],
)
def test_names_that_cannot_be_files(names, rule, message):
    variables = [theano.shared(np.ones(2) * k, name=name) for k, name in enumerate(names)]
    with pytest.raises(ValueError, match=message):
        dump(variables, io.BytesIO(), persistent_id=lambda z: PersistentSharedVariableID(z, **rule))


def test_what_a_pickle_leaves_out():
    x = T.dvector("x")
    y = T.exp(x)
    y.tag.test_value, y.tag.mine, y.tag.kept = np.ones(2), "mine", "kept"
    file = io.BytesIO()
    StripPickler(file, protocol=-1, extra_tag_to_remove="mine").dump(y)
    assert vars(pickle.loads(file.getvalue()).tag) == {"kept": "kept"}
    assert y.tag.mine == "mine" and y.tag.trace


def test_a_number_that_python_2_wrote():
    written = (
        b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'u1'\nI0\nI1\ntR(I3\nS'|'\n"
        b"NNNI-1\nI-1\nI0\ntbS'\\xff'\ntR."
    )
    assert CompatUnpickler(io.BytesIO(written), encoding="latin1").load() == 255


def test_compat():
    assert (cmp(1, 2), cmp(2, 2), cmp(3, 2)) == (-1, 0, 1)
    assert exc_message(ValueError(TypeError("inner"))) == "inner"
    counts = DefaultOrderedDict(list)
    counts["b"].append(1)
    assert counts["a"] == [] and list(counts) == ["b", "a"]
    copied = pickle.loads(pickle.dumps(counts)).copy()
    copied["c"].append(2)
    assert copied["c"] == [2] and "c" not in counts
    with pytest.raises(KeyError):
        DefaultOrderedDict()["missing"]


def test_an_error_that_a_graph_raises():
    x = T.dvector("x")
    condition = T.iscalar("condition")
    f = theano.function([condition, x], ifelse(condition, x, Raise("no", KeyError)(x)))
    np.testing.assert_array_equal(f(1, [2.0]), [2])
    with pytest.raises(KeyError, match="no"):
        f(0, [2.0])


def test_a_module_that_is_missing_is_a_missing_attribute():
    assert not hasattr(theano, "no_such_module")
    assert hasattr(theano, "gpuarray") == (find_spec("theano.gpuarray") is not None)


PRINTED_MESSAGES = """
import io, logging, theano
theano.logging_default_handler.setStream(io.StringIO())
stream = theano.logging_default_handler.stream
logging.getLogger("theano.part").warning("first")
theano.disable_log_handler()
theano.theano_logger.addHandler(logging.NullHandler())
logging.getLogger("theano.part").warning("second")
print(stream.getvalue(), end="")
"""


def test_messages_go_to_a_handler_that_can_be_taken_away():
    assert printed_by(PRINTED_MESSAGES) == ["WARNING (theano.part): first"]


def test_names_of_six_are_where_theano_had_them():
    code = (
        "import theano; from theano.compat import six; from theano.compat.six.moves import xrange, "
        "cPickle; from theano.compat.six import string_types; "
        "from theano.compat.python2x import OrderedDict; "
        "print(list(xrange(2)), string_types, six.moves.reduce(max, [1, 3]), OrderedDict())"
    )
    assert printed_by(code) == ["[0, 1] (<class 'str'>,) 3 OrderedDict()"]


def test_the_old_gpu_engine_says_that_it_is_not_there():
    from theano.sandbox import cuda

    assert not cuda.cuda_available and not cuda.cuda_enabled
    with pytest.raises(RuntimeError, match="device=cuda"):
        cuda.use("gpu0")
    with pytest.raises(AttributeError, match=r"use theano.gpuarray"):
        cuda.CudaNdarrayType  # noqa: B018
    with pytest.raises(ImportError, match="gpu_from_host"):
        exec("from theano.sandbox.cuda import gpu_from_host")


def test_texts_are_filled_in_or_say_where_they_cannot_be():
    assert render_string("%(x)s = %(y)d;", {"x": "a", "y": 3}) == "a = 3;"
    with pytest.raises(ValueError, match=r"^a %\(z\)<<<< caused KeyError: 'z'"):
        render_string("a %(z)s b", {"x": 1})


def test_the_lock_is_held_until_it_is_given_back_as_often(tmp_path):
    def somebody_else_waits() -> bool:
        code = (
            "from filelock import Timeout; from theano.gof.compilelock import lock_ctx\n"
            f"try:\n with lock_ctx({str(tmp_path)!r}, timeout=0.1): print('free')\n"
            "except Timeout: print('held')"
        )
        return printed_by(code) == ["held"]

    get_lock(tmp_path)
    assert somebody_else_waits()
    release_lock()
    assert not somebody_else_waits()
    with pytest.raises(RuntimeError, match="get_lock was not called before"):
        release_lock()


def test_memory_is_disturbed_without_harm():
    disturb_mem()
    disturb_mem()


@pytest.mark.parametrize(
    "function, some",
    [
        (theano.function, ["inputs", "outputs", "mode", "updates", "givens", "on_unused_input"]),
        (theano.grad, ["cost", "wrt", "consider_constant", "known_grads"]),
        (theano.Rop, ["f", "wrt", "eval_points"]),
        (theano.Lop, ["f", "wrt", "eval_points", "consider_constant"]),
        (theano.scan, ["fn", "sequences", "outputs_info", "non_sequences"]),
        (theano.gradient.hessian, ["cost", "wrt", "consider_constant"]),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_a_program_that_asks_for_a_functions_arguments_gets_their_names(function, some):
    # Keras 1: `model.compile(..., mode="FAST_COMPILE")` looks whether `theano.function` takes it
    args = inspect.getfullargspec(function).args
    assert args[: len(some) - 1] == some[:-1] and set(some) <= set(args)


def test_folders_of_flags_are_text():
    config = theano.config
    assert type(config.compiledir) is str and type(config.base_compiledir) is str
    assert (config.compiledir + "/x").startswith(config.base_compiledir)
