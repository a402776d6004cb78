"""The GPU engine of Theano before 1.0, which is not there: programs ask whether it is.

What took its place is `theano.gpuarray`, with the flag ``device``.
"""

from typing import Any

cuda_available = False
cuda_enabled = False


def use(device: str, *args: object, **kwargs: object) -> None:
    """Raise an error that says how a GPU is used now.

    Raises
    ------
    RuntimeError
    """
    raise RuntimeError(
        f"theano.sandbox.cuda.use({device!r}): Theano 1.0 removed this engine; "
        "use a GPU with THEANO_FLAGS=device=cuda, see doc/how_to/devices.md"
    )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"theano.sandbox.cuda has no {name}: Theano 1.0 removed this engine; use theano.gpuarray"
    )
