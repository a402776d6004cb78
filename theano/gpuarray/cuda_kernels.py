"""Operations that brought CUDA or OpenCL text with them, which libgpuarray compiled.

XLA makes the kernels of a device here. Such an operation runs by its ``perform``, or on devices as a
lowering says that the program registers for it; one that has neither is an error that says how to
write it.
"""

from collections.abc import Sequence

from pytensor.graph.basic import Apply

from theano.gof.op import Op

__all__ = ["CGpuKernelBase", "GpuKernelBase", "Kernel"]


def _how_to_lower(name: str, what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name}: {what} is not compiled here, where XLA makes the kernels of devices. Say with JAX "
        f"what the operation computes, and its text is not needed:\n\n"
        f"    from theano.link.xla.lowering import lowers\n\n"
        f"    @lowers({name})\n"
        f"    def lowered(op, node, inputs, context):\n"
        f"        return ...  # of jax.numpy, or your own kernel:\n"
        f"        # jax.experimental.pallas.pallas_call(kernel, out_shape)(*inputs)\n\n"
        f"examples/pallas_kernel.py has such a kernel, doc/how_to/own_operation.md has more"
    )


class GpuKernelBase:
    """The base of operations with kernels as text; their ``gpu_kernels`` is never called."""

    def perform(self, node, inputs, output_storage, params=None):
        """Refuse: an operation that runs on the processor too says here what it computes."""
        raise self._refusal()

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        """Return what runs ``perform``; its C code is for libgpuarray."""
        if type(self).perform is GpuKernelBase.perform:
            raise self._refusal()
        return self.make_py_thunk(node, storage_map, compute_map, no_recycling)  # type: ignore[attr-defined]

    def gpu_kernels(self, node: Apply, name: str) -> list:
        """Return the kernels of a node, in a subclass for Theano."""
        raise NotImplementedError(f"{type(self).__name__} has no gpu_kernels")

    def _refusal(self) -> NotImplementedError:
        return _how_to_lower(type(self).__name__, "the CUDA or OpenCL text of its gpu_kernels")


class CGpuKernelBase(GpuKernelBase, Op):
    """The base of operations with kernels in files.

    Parameters
    ----------
    func_files : str or list of str
        The files.
    func_name : str, optional
        The function in them that Theano called.
    """

    def __init__(self, func_files: str | Sequence[str], func_name: str | None = None):
        self.func_files = [func_files] if isinstance(func_files, str) else list(func_files)
        self.func_name = func_name

    def _refusal(self) -> NotImplementedError:
        files = ", ".join(self.func_files)
        return _how_to_lower(type(self).__name__, f"the CUDA or OpenCL text of {files}")


class Kernel:
    """A kernel as text, which Theano gave libgpuarray to compile."""

    def __init__(
        self,
        code: object,
        params: object,
        name: str,
        flags: object,
        *args: object,
        **kwargs: object,
    ):
        raise _how_to_lower("YourOperation", f"the text of the kernel {name!r}")
