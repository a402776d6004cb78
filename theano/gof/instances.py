"""Our classes that PyTensor's objects count as instances of.

Theano's programs ask ``isinstance(x.type, theano.Type)`` of types that PyTensor made.
"""

from collections.abc import Callable


def including_instances_of(original: type, but: tuple[type, ...] = ()) -> Callable[[type], type]:
    """Make subclasses of `original` count as subclasses of the class that is decorated.

    Parameters
    ----------
    original : type
        An abstract base class of the decorated class.
    but : tuple of type
        Those of these classes do not count.
    """

    def decorate(cls: type) -> type:
        # issubclass(candidate, original) would ask this hook again
        def hook(asked, candidate):
            if asked is not cls:
                return NotImplemented
            bases = candidate.__mro__
            return original in bases and not any(other in bases for other in but)

        cls.__subclasshook__ = classmethod(hook)  # type: ignore[assignment, method-assign]
        return cls

    return decorate
