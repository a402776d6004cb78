"""Presence and version of NVIDIA's library cuDNN."""

import ctypes
import ctypes.util
import importlib.util
from collections.abc import Hashable, Iterator
from pathlib import Path

from theano.configdefaults import config
from theano.gpuarray.contexts import get_context

__all__ = ["dnn_available", "dnn_present", "dnn_version", "version"]

_MESSAGES = {
    "disabled": "Disabled by dnn.enabled flag",
    "absent": "The library cuDNN was not found",
    "no GPU": "Not on a CUDA device.",
}


def dnn_present() -> bool:
    """Return whether cuDNN's library is on this machine; ``dnn_present.msg`` says why not."""
    enabled = config.dnn.enabled
    if enabled == "False":
        reason = _MESSAGES["disabled"]
    elif enabled == "no_check" or _library() is not None:
        reason = None
    else:
        reason = _MESSAGES["absent"]
    dnn_present.msg = reason  # type: ignore[attr-defined]
    return reason is None


def dnn_available(context_name: Hashable = None) -> bool:
    """Return whether cuDNN can be used on the device of a context.

    ``dnn_available.msg`` says why not. `RNNBlock` and the functions of this module work without
    it, too.

    Parameters
    ----------
    context_name : str, optional
        Name of the context.

    Returns
    -------
    bool

    Raises
    ------
    ContextNotDefined
        When cuDNN is there and no device is mapped to the name.
    """
    reason = None
    if not dnn_present():
        reason = dnn_present.msg  # type: ignore[attr-defined]
    elif get_context(context_name).kind != b"cuda":
        reason = _MESSAGES["no GPU"]
    dnn_available.msg = reason  # type: ignore[attr-defined]
    return reason is None


for _function in (dnn_present, dnn_available):
    _function.msg = None  # type: ignore[attr-defined]


def version(raises: bool = True) -> int:
    """Return the version of cuDNN as it counts: 90100 is 9.1.0.

    Parameters
    ----------
    raises : bool
        Whether to raise an error if it is not there; otherwise -1 is returned.

    Returns
    -------
    int

    Raises
    ------
    RuntimeError
        When cuDNN is not there and `raises` is set.
    """
    library = _library() if dnn_present() else None
    if library is None:
        if raises:
            why = dnn_present.msg  # type: ignore[attr-defined]
            raise RuntimeError(f"cuDNN's version cannot be found: {why or _MESSAGES['absent']}")
        return -1
    library.cudnnGetVersion.restype = ctypes.c_size_t
    return int(library.cudnnGetVersion())


dnn_version = version


def _library() -> ctypes.CDLL | None:
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _candidates() -> Iterator[str]:
    """Names of the library: JAX's own copy, which pip installs, then the system's."""
    package = importlib.util.find_spec("nvidia")
    for folder in (package.submodule_search_locations if package else None) or ():
        yield from map(str, sorted(Path(folder).glob("cudnn/lib/libcudnn.so.*")))
    found = ctypes.util.find_library("cudnn")
    if found:
        yield found
