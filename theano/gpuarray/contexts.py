"""Contexts: names that graphs give to devices."""

from collections.abc import Hashable, KeysView
from typing import Any

from theano.support.data_classes import dataclass

__all__ = ["Context", "ContextNotDefined", "get_context", "list_contexts", "reg_context"]


class ContextNotDefined(ValueError):
    """No device is mapped to the name of a context."""


@dataclass(frozen=True)
class Context:
    """A device as graphs see it.

    Parameters
    ----------
    dev : str
        Its name: 'cuda0', 'xla:cpu1'.
    device : jax.Device
    """

    dev: str
    device: Any

    @property
    def kind(self) -> bytes:
        """Return what sort of device it is: b'cuda' or b'cpu'."""
        return {"gpu": b"cuda"}.get(self.device.platform, self.device.platform.encode())

    @property
    def devname(self) -> str:
        """The model of the device."""
        return self.device.device_kind

    @property
    def unique_id(self) -> str:
        """Return what distinguishes the device from others of its model."""
        return str(self.device)

    @property
    def total_gmem(self) -> int:
        """Bytes of memory that the engine may use."""
        return self._memory()["bytes_limit"]

    @property
    def free_gmem(self) -> int:
        """Bytes of that memory that are not in use."""
        memory = self._memory()
        return memory["bytes_limit"] - memory["bytes_in_use"]

    def _memory(self) -> dict[str, int]:
        memory = self.device.memory_stats()
        if memory is None:
            raise RuntimeError(f"the device {self.dev} does not report how much memory it has")
        return memory


_contexts: dict[Hashable, Context] = {}


def reg_context(name: Hashable, ctx: Context) -> None:
    """Give a device a name for graphs.

    Parameters
    ----------
    name : hashable
        Usually a string; None is the default context.
    ctx : Context

    Raises
    ------
    ValueError
        When the name is taken.
    TypeError
        When `ctx` is not a context.
    """
    if name in _contexts:
        raise ValueError(f"context name {name} is already defined")
    if not isinstance(ctx, Context):
        raise TypeError(f"reg_context: a Context is needed; got {ctx!r}")
    _contexts[name] = ctx


def get_context(name: Hashable) -> Context:
    """Return the device that a name stands for.

    Parameters
    ----------
    name : hashable

    Returns
    -------
    Context

    Raises
    ------
    ContextNotDefined
        When no device has the name.
    """
    if name not in _contexts:
        known = ", ".join(map(str, _contexts)) or "none"
        raise ContextNotDefined(
            f"context name {name} not defined; defined are: {known}. Map it with the flag "
            f"contexts ({name}->cuda0) or with theano.gpuarray.init_dev"
        )
    return _contexts[name]


def list_contexts() -> KeysView[Hashable]:
    """Return the names of all contexts."""
    return _contexts.keys()


def _unreg_context(name: Hashable) -> None:
    """Forget the name of a context."""
    del _contexts[name]
