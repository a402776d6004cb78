"""Lines of Theano's tests that today's Python or NumPy does not run, and what runs instead."""

import ast
import importlib.abc
import importlib.machinery
from collections.abc import Sequence
from types import CodeType

_SPECIAL_FUNCTIONS = ("erf", "gamma", "gammaln", "psi", "j0", "j1", "i0", "i1")

# Recurrent layers for which a test asks for cuDNN run here on every device.
_RECURRENT_TESTS = ("gru", "gru_bidi", "lstm", "lstm_grad_c")

_GIVEN = """

    def funcs(out, params, hy=None):
        cost = 0
        if out:
            cost += T.mean((Y - out)**2)
        if hy:
"""

# The windows of which a test compares a share for each shape of images, by the length of a window
# that they may not exceed: all of them are some thousand programs of XLA's.
_POOLED = {
    "(2, 2), (3, 2), (1, 1)": "shp[-2]",
    "(2, 2, 2), (2, 3, 2), (1, 1, 1)": "shp[-3]",
}
_MODES = """
    test_mode = ['max', 'sum', 'average_inc_pad', 'average_exc_pad']

    ref_mode = """
_PRODUCT = "itertools.product(test_mode, test_ws, test_st)"

# module -> (a line's part, its replacement)
EDITS: dict[str, tuple[tuple[str, str], ...]] = {
    # NumPy 2 hid the field from C code.
    "theano.compile.tests.test_debugmode": tuple(
        (f"PyArray_DESCR(%({array})s)->elsize", f"PyArray_ITEMSIZE(%({array})s)") for array in "az"
    ),
    # There is no libgpuarray whose module could be missing.
    "theano.gpuarray.tests.config": (("if theano.gpuarray.pygpu is None:", "if False:"),),
    "theano.gpuarray.tests.test_dnn": (
        *(
            (
                f"def test_dnn_rnn_{name}():\n    if not dnn.dnn_available(test_ctx_name):",
                f"def test_dnn_rnn_{name}():\n    if False:",
            )
            for name in _RECURRENT_TESTS
        ),
        # PyTensor's variables have no boolean.
        *(
            (
                before + _GIVEN,
                before
                + _GIVEN.replace("out:", "out is not None:").replace("hy:", "hy is not None:"),
            )
            for before in ("return_internal_type=True)", "(psize,)).astype(theano.config.floatX))")
        ),
    ),
    "theano.gpuarray.tests.test_pool": (
        *(
            (
                f"for mode, ws, st in {_PRODUCT}:\n            if ws[0] > {length} ",
                f"for mode, ws, st in list({_PRODUCT})[shps.index(shp) % 12::12]:\n"
                f"            if ws[0] > {length} ",
            )
            for length in _POOLED.values()
        ),
        # With the flags of these tests both modes would be XLA's.
        *(
            (
                f"test_st = {steps}{_MODES}copy.copy(mode_without_gpu)",
                f"test_st = {steps}{_MODES}theano.compile.mode.Mode('py', 'fast_compile')",
            )
            for steps in _POOLED
        ),
    ),
    # The file is not part of the package: it lies with the fetched tests.
    "theano.sandbox.tests.test_rng_mrg": (
        (
            "os.path.split(theano.__file__)[0]",
            "os.path.dirname(os.path.dirname(os.path.dirname(__file__)))",
        ),
    ),
    # NumPy 2.4 does not format an array of one element as a number.
    "theano.scan_module.tests.test_scan": (('"sum %f" % _sum', '"sum %f" % _sum.item()'),),
    "theano.tensor.tests.test_basic": (
        # NumPy 2.4 makes no dtypes of abstract classes.
        (
            "    dtype = np.dtype(cls)\n    dtype_num",
            "    dtype = np.dtype({np.number: float, np.inexact: float, np.floating: float,"
            " np.complexfloating: complex, np.integer: int, np.signedinteger: int,"
            " np.unsignedinteger: np.uint64}.get(cls, cls))\n    dtype_num",
        ),
        ("        rval.append(cls)\n", "        rval.append(dtype.type)\n"),
        # NumPy 2.1's ceil, floor and trunc of integers are integers.
        (
            "        out_dtype = np.find_common_type(\n            [a.dtype for a in args],",
            "        args = [a.astype(np.result_type(a.dtype, np.float16))"
            " if fn in (np.ceil, np.floor, np.trunc) else a for a in args]\n"
            "        out_dtype = np.find_common_type([a.dtype for a in args],",
        ),
        # SciPy gives float64 for short integers today.
        *(
            (
                f"    expected_{name} = {function}\n",
                f"    expected_{name} = lambda x: ({function})(x).astype("
                "np.result_type(x.dtype, np.float32))\n",
            )
            for name, function in [
                *((name, f"scipy.special.{name}") for name in _SPECIAL_FUNCTIONS),
                ("tri_gamma", "partial(scipy.special.polygamma, 1)"),
            ]
        ),
    ),
    # NumPy 2 does not widen int8 where a number of Python's is added.
    "theano.tensor.nnet.tests.test_conv": (
        ("icol:icol + N_filter_shape[3]]", "icol:icol + int(N_filter_shape[3])]"),
    ),
    # NumPy 1.23 takes no lists of slices and masks for tuples.
    "theano.tensor.signal.tests.test_pool": tuple(
        (f" = {name}[l][region]", f" = {name}[l][tuple(region)]")
        for name in ("input", "padded_input")
    ),
    "theano.tensor.tests.test_subtensor": (
        (
            "np.allclose(res, x[[slice(1, -1)] * x.ndim])",
            "np.allclose(res, x[(slice(1, -1),) * x.ndim])",
        ),
        ("            x[idx] += a", "            x[tuple(idx) if type(idx) is list else idx] += a"),
    ),
    # NumPy 2 does not wrap numbers around.
    "theano.tensor.tests.test_elemwise": (
        ("np.array((-1,), dtype=dtype)[0]", "np.array((-1,)).astype(dtype)[0]"),
    ),
}


# module -> its functions that are read, of a module that needs what is not here for the others
ONLY = {
    "theano.gpuarray.tests.test_dnn": [f"test_dnn_rnn_{name}" for name in _RECURRENT_TESTS],
}


class EditedModules(importlib.abc.MetaPathFinder):
    """Finds the modules that are edited."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in EDITS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.origin is not None:
            spec.loader = _EditingLoader(fullname, spec.origin)
        return spec


class _EditingLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        # Not through bytecode: it would be taken for that of the module as fetched.
        text = self.get_data(self.path).decode()
        for old, new in EDITS[fullname]:
            if text.count(old) != 1:
                raise ImportError(f"{fullname} has {old!r} {text.count(old)} times, not once")
            text = text.replace(old, new)
        if fullname in ONLY:
            text = _functions_alone(text, ONLY[fullname])
        return self.source_to_code(text.encode(), self.path)


def _functions_alone(text: str, names: Sequence[str]) -> str:
    """The functions of these names, and of the module's imports what they use."""
    body = ast.parse(text).body
    functions = [f for f in body if isinstance(f, ast.FunctionDef) and f.name in names]
    used = {n.id for f in functions for n in ast.walk(f) if isinstance(n, ast.Name)}
    kept: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [
                alias
                for alias in statement.names
                if (alias.asname or alias.name.partition(".")[0]) in used
            ]
            kept += [statement] if statement.names else []
    return ast.unparse(ast.Module([*kept, *functions], []))
