"""The modes that tests of operations on devices compare.

Where no device is in use, `cuda` is asked for; if there is none, the import is a skipped test.
"""

from unittest import SkipTest

from pytensor.graph.basic import Variable

from theano import gpuarray
from theano.compile.mode import get_default_mode, get_mode
from theano.configdefaults import config
from theano.tensor.basic import cast

__all__ = ["mode_with_gpu", "mode_without_gpu", "ref_cast", "test_ctx_name"]

if not gpuarray.pygpu_activated:
    try:
        gpuarray.init_dev("cuda")
    except Exception as error:
        raise SkipTest(f"no device: {error}") from error

# the default context
test_ctx_name = None

mode_with_gpu = get_mode("XLA").including("gpuarray")
mode_without_gpu = (
    get_mode("FAST_RUN") if config.mode == "FAST_COMPILE" else get_default_mode()
).excluding("gpuarray")


def ref_cast(x: Variable) -> Variable:
    """Make float32 of a float16 variable, which the processor computes with."""
    return cast(x, "float32") if x.type.dtype == "float16" else x  # type: ignore[attr-defined]
