"""Giving PyTensor the flags that it holds, which it reads from its own environment variable."""

import os
import shlex
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from theano.flags.blas_messages import no_blas_warnings
from theano.flags.flag import TheanoConfigWarning, caller_stacklevel


def forward_to_pytensor(settings: Mapping[str, Any]) -> None:
    """Give PyTensor the flags that the user set; `settings` has PyTensor's names.

    PyTensor reads some of them while it is imported, so they go through its environment variable
    when it is not imported yet, and by assignment otherwise.
    """
    if not settings:
        return
    if "pytensor" not in sys.modules:
        before = os.environ.get("PYTENSOR_FLAGS")
        ours = [f"{name}={shlex.quote(str(value))}" for name, value in settings.items()]
        os.environ["PYTENSOR_FLAGS"] = ",".join(([before] if before else []) + ours)
        try:
            pytensor_config()
        finally:
            if before is None:
                del os.environ["PYTENSOR_FLAGS"]
            else:
                os.environ["PYTENSOR_FLAGS"] = before
        return
    config_of_pytensor = pytensor_config()
    from theano.pytensor_internals.functions.configuration import is_mutable

    for name, value in settings.items():
        if str(getattr(config_of_pytensor, name)) == str(value):
            continue
        if is_mutable(name):
            setattr(config_of_pytensor, name, value)
        else:
            warnings.warn(
                f"The flag {name.replace('__', '.')}={value} came too late, because pytensor was "
                "imported first: import theano before pytensor",
                TheanoConfigWarning,
                stacklevel=caller_stacklevel(),
            )


def pytensor_config() -> Any:
    """PyTensor's table of flags, which is imported when it is first needed."""
    from pytensor.configdefaults import config as config_of_pytensor

    return config_of_pytensor


def read_from_pytensor(name: str) -> Any:
    """Return the value of a flag that PyTensor holds, by PyTensor's name."""
    if name != "blas__ldflags":
        return getattr(pytensor_config(), name)
    # PyTensor looks for a BLAS when this is first read
    with no_blas_warnings():
        return getattr(pytensor_config(), name)
