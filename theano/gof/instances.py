"""Classes of ours that PyTensor's objects count as instances of.

Theano's programs ask ``isinstance(x.type, theano.Type)`` of types that PyTensor made.
"""

from collections.abc import Callable


def including_instances_of(original: type) -> Callable[[type], type]:
    """Make subclasses of `original` count as subclasses of the class that is decorated.

    Parameters
    ----------
    original : type
        An abstract base class of the decorated class.
    """

    def decorate(cls: type) -> type:
        # issubclass(candidate, original) would ask this hook again
        def hook(asked, candidate):
            return original in candidate.__mro__ if asked is cls else NotImplemented

        cls.__subclasshook__ = classmethod(hook)  # type: ignore[assignment, method-assign]
        return cls

    return decorate
