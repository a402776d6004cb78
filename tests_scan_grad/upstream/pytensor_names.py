"""Our stand-ins for PyTensor's names in PyTensor's own tests."""

import functools
import inspect
import operator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

import pytensor
import pytensor.compile.maker
import pytensor.compile.mode
import pytensor.gradient
from pytensor.scan import checkpoints, views
from pytensor.scan.basic import scan

import theano

# PyTensor's rewrites of loops that a rewrite of ours replaces
REPLACED_REWRITES = {
    "scan_push_out_seq": "HoistFromSequences",
    "scan_pushout_seqs_ops": "HoistFromSequences",
    "scan_push_out_dot1": "PushOutDotAccumulate",
    "scan_pushout_dot1": "PushOutDotAccumulate",
    "scan_push_out_add": "PushOutTracedProducts",
    "scan_pushout_add": "PushOutTracedProducts",
}


def ours(value: Any) -> Any:
    """Our counterpart of an object of PyTensor's, or the object itself if there is none."""
    if isinstance(value, ModuleType):
        return Names(value)
    return REPLACEMENTS.get(id(value), value)


class Names(ModuleType):
    """A module of PyTensor's that gives our counterparts of what is in it."""

    def __init__(self, module: ModuleType):
        super().__init__(module.__name__, module.__doc__)
        self.__dict__["_module"] = module

    def __getattr__(self, name: str) -> Any:
        return ours(getattr(self.__dict__["_module"], name))


class Flags:
    """PyTensor's flags; those that only Theano has are Theano's."""

    def __getattr__(self, name: str) -> Any:
        if hasattr(pytensor.config, name):
            return getattr(pytensor.config, name)
        return operator.attrgetter(name.replace("__", "."))(theano.config)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(pytensor.config, name, value)

    @contextmanager
    def change_flags(self, **flags: Any):
        """Change flags for a while, as a context or as a decorator."""
        of_pytensor = {n: value for n, value in flags.items() if hasattr(pytensor.config, n)}
        of_theano = {name: value for name, value in flags.items() if name not in of_pytensor}
        with ExitStack() as stack:
            if of_pytensor:
                stack.enter_context(pytensor.config.change_flags(**of_pytensor))
            if of_theano:
                stack.enter_context(theano.change_flags(**of_theano))
            yield


class Mode(theano.Mode):
    """Theano's mode; leaving out a rewrite of PyTensor's leaves out ours in its place, too."""

    def excluding(self, *tags: str) -> "Mode":
        return super().excluding(*tags, *(REPLACED_REWRITES.get(tag, tag) for tag in tags))


# One instance of each, as in PyTensor: loops whose steps have the same mode can be made one.
# PyTensor's make BLAS's operators without a BLAS, too, which ours do if they are asked for them.
NAMED_MODES = {
    "Mode": Mode(),
    "FAST_RUN": Mode("pytensor_cvm", "fast_run"),
    "CVM": Mode("pytensor_cvm", "fast_run").including("BlasOpt"),
    "VM": Mode("pytensor_vm", "fast_run"),
}


def get_mode(mode: Any = None) -> Any:
    """Theano's mode of that name; PyTensor's, where only PyTensor has one of that name."""
    if mode is None:
        # a test may have set PyTensor's flag
        mode = pytensor.config.mode
    if not isinstance(mode, str):
        return mode
    if mode in NAMED_MODES:
        return NAMED_MODES[mode]
    if mode in theano.compile.mode.named_modes:
        return theano.compile.mode.get_mode(mode)
    return pytensor.compile.mode.get_mode(mode)


def function(*args: Any, trust_input: bool = False, **kwargs: Any) -> Any:
    """``theano.function`` with a signature like that of PyTensor's."""
    bound = inspect.signature(theano.function).bind(*args, **kwargs)
    bound.arguments["mode"] = get_mode(bound.arguments.get("mode"))
    compiled = theano.function(*bound.args, **bound.kwargs)
    compiled.trust_input = trust_input
    return compiled


def with_optional_updates(of_theano):
    """A loop of Theano's that leaves the updates out on request, as PyTensor's does."""

    @functools.wraps(of_theano)
    def loop(*args: Any, return_updates: bool = True, **kwargs: Any) -> Any:
        if isinstance(kwargs.get("mode"), str):
            kwargs["mode"] = get_mode(kwargs["mode"])
        outputs, updates = of_theano(*args, **kwargs)
        if return_updates:
            return outputs, updates
        if updates:
            raise ValueError("updates were not asked for, but there are some")
        return outputs

    return loop


def adopting(of_pytensor):
    """A function of PyTensor's that makes loops inside, with its result on loops of ours."""

    @functools.wraps(of_pytensor)
    def adopted(*args: Any, **kwargs: Any) -> Any:
        result = of_pytensor(*args, **kwargs)
        if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict):
            outputs, updates = result
            return on_our_loops(outputs), updates
        return on_our_loops(result)

    return adopted


def on_our_loops(result: Any) -> Any:
    """A variable or a list or tuple of variables, computed by loops of ours."""
    new = theano.scan_module.adopt(result)
    return tuple(new) if isinstance(result, tuple) else new


def verify_grad(*args: Any, mode: Any = None, **kwargs: Any) -> None:
    """PyTensor's comparison of a gradient with finite differences, in Theano's mode."""
    pytensor.gradient.verify_grad(*args, mode=get_mode(mode), **kwargs)


REPLACEMENTS = {
    id(of_pytensor): of_ours
    for of_pytensor, of_ours in (
        (pytensor.config, Flags()),
        (scan, with_optional_updates(theano.scan)),
        (views.map, with_optional_updates(theano.map)),
        (views.reduce, with_optional_updates(theano.reduce)),
        (views.foldl, with_optional_updates(theano.foldl)),
        (views.foldr, with_optional_updates(theano.foldr)),
        (views.filter, adopting(views.filter)),
        (checkpoints.scan_checkpoints, adopting(checkpoints.scan_checkpoints)),
        (pytensor.gradient.jacobian, adopting(pytensor.gradient.jacobian)),
        (pytensor.gradient.hessian, adopting(pytensor.gradient.hessian)),
        (pytensor.gradient.verify_grad, verify_grad),
        (pytensor.compile.maker.function, function),
        (pytensor.compile.mode.get_mode, get_mode),
        (pytensor.compile.mode.get_default_mode, get_mode),
        (pytensor.compile.mode.Mode, Mode),
    )
}
