"""PyTensor's machine in Python, made without a look at the one in C.

PyTensor imports its machine in C whether a linker wants it or not: it compiles it where its folder has
none, and imports setuptools, a sixth of what a small function takes in ``FAST_COMPILE``.
"""

from __future__ import annotations

from typing import Any

from pytensor.compile.mode import Mode, get_mode
from pytensor.configdefaults import config
from pytensor.link.vm import Loop, Stack, VMLinker


class PythonVMLinker(VMLinker):
    """PyTensor's linker whose machine is in Python: ``VMLinker(use_cloop=False)``."""

    def make_vm(
        self,
        nodes: object,
        thunks: Any,
        input_storage: object,
        output_storage: Any,
        storage_map: Any,
        post_thunk_clear: Any,
        computed: Any,
        compute_map: Any,
        updated_vars: Any,
    ) -> Any:
        """Make the machine that runs thunks in order, or lazily where one of them is."""
        given: Any = (nodes, thunks, input_storage, output_storage, storage_map)
        options: Any = (post_thunk_clear, computed, compute_map, updated_vars)
        if self.use_cloop or self.allow_partial_eval:
            return super().make_vm(*given, *options)
        wanted = config.profile_memory or self.callback or self.callback_input
        asked = (True if wanted else self.lazy, config.vm__lazy, any(each.lazy for each in thunks))
        lazy = next(returned for returned in asked if returned is not None)
        cleared = [storage_map[variable] for variable in self.no_recycling]
        machine: Any = Stack if lazy else Loop
        made = (self.fgraph, nodes, thunks, cleared, storage_map, input_storage, output_storage)
        if not lazy:
            return machine(*made, updated_vars, post_thunk_clear if self.allow_gc else None)
        dependencies = self.compute_gc_dependencies(storage_map)
        callbacks = {"callback": self.callback, "callback_input": self.callback_input}
        rest = (updated_vars, compute_map, self.allow_gc)
        return machine(*made, *rest, dependencies=dependencies, **callbacks)


def mode_of_step(mode: object, overwrites_states: bool, allow_gc: bool) -> Mode:
    """Return the mode that compiles a loop's step, by PyTensor's machine where no other engine may.

    Parameters
    ----------
    overwrites_states
        Whether the step writes new values of states over old ones: those are updates of its function,
        which a linker without a machine (``py``, DebugMode) does not make.
    """
    chosen = get_mode(mode)
    if not overwrites_states or isinstance(chosen.linker, VMLinker):
        return chosen
    return Mode(PythonVMLinker(c_thunks=False, allow_gc=allow_gc), chosen.optimizer)
