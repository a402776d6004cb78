"""Modes: which rewrites run, and which engine runs the result; the rewrites are chosen here only.

Theano's default modes ask for PyTensor's tags and for our own tags, under which this
package's rewrites are registered. PyTensor's modes do not know our tags.
"""

from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.configdefaults import config as pytensor_config
from pytensor.graph.basic import Apply

from theano.compile.mode_components.linkers import (
    make_linker,
    no_warning_yet,
    predefined_linkers,
    register_linker,
    unknown_name,
)
from theano.compile.mode_components.optimizers import (
    OPT_FAST_COMPILE,
    OPT_FAST_RUN,
    OPT_FAST_RUN_STABLE,
    OPT_O2,
    OPT_O3,
    OPT_STABILIZE,
    OPT_UNSAFE,
    for_python,
    predefined_optimizers,
    register_optimizer,
    resolve_optimizer,
)
from theano.configdefaults import config
from theano.flags.blas_messages import no_blas_warnings
from theano.gof.rewriters.rewrite_names import with_new_names
from theano.gof.test_values import use_runner
from theano.pytensor_internals.functions.compiling import (
    OPT_MERGE,
    OPT_NONE,
    AddDestroyHandler,
    AddFeatureOptimizer,
    PrintCurrentFunctionGraph,
    Supervisor,
    asked_rewrites,
    local_useless,
)
from theano.pytensor_internals.functions.linking import JITLinker, Linker, PerformLinker, VMLinker
from theano.pytensor_internals.functions.python_machine import PythonVMLinker
from theano.pytensor_internals.graphs.rewriting import RewriteDatabaseQuery
from theano.rewriting.chosen import chosen
from theano.rewriting.database import FAST_COMPILE_TAG, FAST_RUN_TAG, optdb
from theano.rewriting.disk.cached_graphs import CachedGraphs
from theano.rewriting.rewrites.of_pytensor.left_out import (
    DONE_BY_NATIVE,
    OF_INNER_GRAPHS,
    SLOW_IN_PYTHON,
    SLOW_WITHOUT_BLAS,
    Tags,
    not_asked_for,
)
from theano.rewriting.step_modes import StepModes, use_step_modes

__all__ = [
    "FAST_COMPILE",
    "FAST_COMPILE_TAG",
    "FAST_RUN",
    "FAST_RUN_TAG",
    "OPT_FAST_COMPILE",
    "OPT_FAST_RUN",
    "OPT_FAST_RUN_STABLE",
    "OPT_MERGE",
    "OPT_NONE",
    "OPT_O2",
    "OPT_O3",
    "OPT_STABILIZE",
    "OPT_UNSAFE",
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "Mode",
    "PrintCurrentFunctionGraph",
    "Supervisor",
    "get_default_mode",
    "get_mode",
    "local_useless",
    "make_linker",
    "named_modes",
    "optdb",
    "predefined_linkers",
    "predefined_modes",
    "predefined_optimizers",
    "register_linker",
    "register_mode",
    "register_optimizer",
    "resolve_optimizer",
]


def _unneeded(linker: Linker) -> Tags:
    """Return the rewrites whose work an engine does by itself, or does slower than without them."""
    if _by_python(linker):
        # Python's products need no BLAS for C, which PyTensor would look for with a compiler.
        return SLOW_IN_PYTHON
    if not _is_machine(linker):
        return getattr(linker, "does_itself", {})
    with no_blas_warnings():
        return {} if pytensor_config.blas__ldflags else SLOW_WITHOUT_BLAS


def _is_machine(linker: Linker) -> TypeGuard[VMLinker]:
    """Return whether it is a PyTensor machine, and no engine that is derived from one."""
    return type(linker) in (VMLinker, PythonVMLinker)


def _by_python(linker: Linker) -> bool:
    """Return whether each operation runs by its ``perform``."""
    if _is_machine(linker):
        return not (linker.c_thunks or linker.use_cloop)
    return isinstance(linker, PerformLinker)


def folder_of_graphs() -> Path:
    """Folder of rewritten graphs: ``graphs`` in the flag ``base_compiledir``."""
    return Path(pytensor_config.base_compiledir) / "graphs"


class Mode(PyTensorMode):
    """Rewrites and an engine: how `theano.function` compiles a graph.

    Parameters
    ----------
    linker : str or Linker, optional
        Name or instance of what runs the graph; by default the flag `linker`.
    optimizer : str or query or rewriter, optional
        Which rewrites run; by default the flag `optimizer`.
    db : RewriteDatabase, optional
        Where rewrites are looked up; by default `optdb`.

    Raises
    ------
    ValueError
        When a name is not known; the message names the nearest one.

    Examples
    --------
    >>> import theano
    >>> mode = theano.Mode(linker="py", optimizer="fast_compile").excluding("inplace")
    """

    optdb: Any

    def __init__(self, linker=None, optimizer="default", db=None):
        linker = config.linker if linker is None else linker
        db = optdb if db is None else db
        super().__init__(linker, resolve_optimizer(optimizer), db)

    def __setstate__(self, state):
        linker, optimizer = state
        super().__setstate__(
            (
                make_linker(linker) if isinstance(linker, str) else linker,
                resolve_optimizer(optimizer),
            )
        )
        # Keep the name: a linker that ran once belongs to one graph and does not pickle.
        self.provided_linker = linker
        self.optdb = optdb

    @property
    def optimizer(self):
        """The rewriter, without what the engine does by itself or does slowly."""
        query = asked_rewrites(self)
        if not isinstance(query, RewriteDatabaseQuery):
            return super().optimizer
        query = query.excluding(*not_asked_for(query, _unneeded(self.linker)))
        if _by_python(self.linker):
            query = for_python(query)
        if not isinstance(self.linker, JITLinker):
            query = query.excluding(*OF_INNER_GRAPHS)
        rewriter = chosen(self.optdb, query)
        if not self._results_are_cached():
            return rewriter
        return CachedGraphs(rewriter, folder_of_graphs())

    def _results_are_cached(self) -> bool:
        """Return whether rewritten graphs are kept on disk: where nobody watches how they are made."""
        watched = (
            pytensor_config.profile_optimizer
            or pytensor_config.optimizer_verbose
            or config.compute_test_value != "off"
        )
        return (
            config.cache_optimizations
            and getattr(self.linker, "stores_graphs", False)
            and not watched
        )

    def __str__(self):
        name = getattr(self.provided_optimizer, "name", None) or self.provided_optimizer
        return f"{type(self).__name__}(linker={self.provided_linker}, optimizer={name})"

    def clone(self, link_kwargs=None, optimizer="", **kwargs):
        """Return a mode with the same rewrites, or others, and the same engine."""
        new_mode = super().clone(link_kwargs, optimizer, **kwargs)
        new_mode.optdb = self.optdb
        return new_mode

    def including(self, *tags):
        """Return a mode in which the rewrites with these names and tags run, too.

        Including ``'fast_run'`` by name includes also those rewrites that the native engine has
        no need of, such as those to BLAS's operators.
        """
        if "fast_run" in tags:
            tags = (*tags, *DONE_BY_NATIVE)
        return super().including(*with_new_names(tags))

    def excluding(self, *tags):
        """Return a mode in which the rewrites with these names and tags do not run."""
        return super().excluding(*with_new_names(tags))

    def get_linker_optimizer(self, linker, optimizer):
        linker = make_linker(linker) if isinstance(linker, str) else linker
        return linker, resolve_optimizer(optimizer)


# Modes that the flags shape are rebuilt at each use, so that flags can change.
named_modes: dict[str, Callable[[], PyTensorMode]] = {
    "Mode": Mode,
    # on a device if the flags ask for one
    "FAST_RUN": lambda: Mode("xla" if config.linker == "xla" else "native", OPT_FAST_RUN),
    "FAST_COMPILE": lambda: Mode(PythonVMLinker(c_thunks=False), OPT_FAST_COMPILE),
    "NATIVE": lambda: Mode("native", OPT_FAST_RUN),
    "XLA": lambda: Mode("xla", OPT_FAST_RUN),
    "DebugMode": lambda: _debug_mode(config.optimizer),
    "DEBUG_MODE": lambda: predefined_modes["DEBUG_MODE"],
    "NanGuardMode": lambda: _nan_guard_mode(config.optimizer),
}


# Imported when first used: few programs need them.
def _debug_mode(optimizer: str) -> PyTensorMode:
    from theano.compile.debugmode import DebugMode

    return DebugMode(optimizer=optimizer)


def _nan_guard_mode(optimizer: str) -> PyTensorMode:
    from theano.compile.nanguardmode import NanGuardMode

    return NanGuardMode(optimizer=optimizer)


with no_warning_yet():
    FAST_COMPILE = named_modes["FAST_COMPILE"]()


class _PredefinedModes(UserDict[str, PyTensorMode]):
    """The modes with their own name; those of engines are made when first asked for.

    They bring their engine with them, and the debugging mode what few programs need.
    """

    _MADE: Mapping[str, Callable[[], PyTensorMode]] = {
        # The engine of devices needs modules that are not imported yet.
        "FAST_RUN": named_modes["NATIVE"],
        "DEBUG_MODE": lambda: _debug_mode("fast_run"),
    }

    def __missing__(self, name: str) -> PyTensorMode:
        if name not in self._MADE:
            raise KeyError(name)
        with no_warning_yet():
            self[name] = self._MADE[name]()
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self.data or name == "FAST_RUN"

    def __iter__(self) -> Iterator[str]:
        # in a fixed order, whether it has been asked for or not
        return iter(dict.fromkeys(("FAST_RUN", *self.data)))

    def __len__(self) -> int:
        return len(list(iter(self)))


predefined_modes: _PredefinedModes = _PredefinedModes({"FAST_COMPILE": FAST_COMPILE})


FAST_RUN: PyTensorMode


def __getattr__(name: str) -> Any:
    if name == "FAST_RUN":
        return predefined_modes[name]
    raise AttributeError(f"module 'theano.compile.mode' has no attribute {name!r}")


def register_mode(name: str, mode: PyTensorMode) -> None:
    """Give a mode a name that `theano.function` accepts; a taken name is a ValueError."""
    if name in named_modes:
        raise ValueError(f"Mode name already taken: {name}")
    predefined_modes[name] = mode
    named_modes[name] = lambda: mode


def get_mode(mode: str | PyTensorMode | None) -> PyTensorMode:
    """Return the mode that a name stands for.

    Parameters
    ----------
    mode : str or Mode or None
        A name, for which the flags optimizer_including, optimizer_excluding and
        optimizer_requiring apply; a mode, returned as it is; or None for the flag `mode`.

    Returns
    -------
    Mode

    Raises
    ------
    ValueError
        When the name is not known; the message names the nearest one.
    TypeError
        When `mode` is neither a name nor a mode.
    """
    mode = config.mode if mode is None else mode
    if isinstance(mode, PyTensorMode):
        return mode
    _check_name(mode)
    made = named_modes[mode]()
    for flag, method in (
        (config.optimizer_excluding, "excluding"),
        (config.optimizer_including, "including"),
        (config.optimizer_requiring, "requiring"),
    ):
        tags = [tag for tag in flag.split(":") if tag]
        if tags:
            made = getattr(made, method)(*tags)
    return made


def _check_name(mode: object) -> None:
    if not isinstance(mode, str):
        raise TypeError(f"mode must be the name of a mode or a Mode, not {mode!r}")
    if mode in ("ProfileMode", "PROFILE_MODE"):
        raise ValueError(
            f"{mode} was removed: the flag profile=True profiles functions of any mode"
        )
    if mode not in named_modes:
        raise unknown_name("mode", mode, named_modes)


def _check_flag(mode: object) -> None:
    """Refuse a value of the flag `mode` when it is assigned."""
    if not isinstance(mode, PyTensorMode):
        _check_name(mode)


config.watch("mode", _check_flag)


def get_default_mode() -> PyTensorMode:
    """Return the mode that the flag `mode` names, the same object while the flags are the same.

    PyTensor makes loops one only if their steps have the same mode.
    """
    if config.mode not in _SHAPED_BY_FLAGS:
        return get_mode(None)
    flags = tuple(getattr(config, name) for name in _FLAGS_OF_DEFAULT_MODE)
    if flags not in _default_modes:
        _default_modes[flags] = get_mode(None)
    return _default_modes[flags]


# Modes that depend on these flags alone; the debugging modes depend on further ones.
_SHAPED_BY_FLAGS = ("Mode", "FAST_RUN", "FAST_COMPILE")
_FLAGS_OF_DEFAULT_MODE = (
    "mode",
    "linker",
    "optimizer",
    "optimizer_excluding",
    "optimizer_including",
    "optimizer_requiring",
    "cxx",
)
_default_modes: dict[tuple, PyTensorMode] = {}


def get_step_mode(mode: str | PyTensorMode | None) -> PyTensorMode:
    """Return the mode that compiles the step of a loop, where the loop is not compiled as a whole.

    An engine that compiles whole functions only says so by ``compiles_steps = False``; then it is
    the native one. ``None`` is the default mode.
    """
    chosen = get_default_mode() if mode is None else get_mode(mode)
    if getattr(chosen.linker, "compiles_steps", True):
        return chosen
    return Mode("native", chosen.provided_optimizer)


use_step_modes(StepModes(of_step=get_step_mode, default=get_default_mode, quick=FAST_COMPILE))


def _run_once(node: Apply, storage: Any, computed: Any) -> None:
    # imported here: it needs an engine
    from theano.compile.run_once import run_once

    run_once(node, storage, computed)


use_runner(_run_once)
