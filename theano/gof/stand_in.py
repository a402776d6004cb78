"""Classes with Theano's arguments that make the instances of PyTensor's classes."""

from types import new_class
from typing import Any


class StandIn(type):
    """The metaclass of a class that stands for another one, whose instances it makes.

    The class gives `made`, the other class, as a keyword, and defines ``make``, which is called
    with the arguments and returns the instance. Instances and subclasses of the other class count
    as its own, as do those for which ``means`` is true, and names that it does not define are the
    other class's. Those listed in ``passed_on`` are set on the other class, too. The two are equal:
    programs compare ``op.__class__`` with it.
    """

    passed_on: tuple[str, ...] = ()

    def __new__(mcs, name: str, bases: tuple, namespace: dict, made: type | None = None):
        if made is None:
            # a class that a user derives from it is one of the other class
            return new_class(
                name,
                tuple(base.made if isinstance(base, StandIn) else base for base in bases),
                exec_body=lambda body: body.update(namespace),
            )
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name: str, bases: tuple, namespace: dict, made: type):
        super().__init__(name, bases, namespace)
        cls.made = made

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        return cls.make(*args, **kwargs)  # type: ignore[attr-defined]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.made) or cls.means(instance)

    def means(cls, instance: object) -> bool:
        """Return whether what is no instance of the other class counts as one."""
        return False

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.made)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.made

    def __hash__(cls) -> int:
        return hash(cls.made)

    def __getattr__(cls, name: str) -> Any:
        if name == "made":
            raise AttributeError(name)
        return getattr(cls.made, name)

    def __setattr__(cls, name: str, value: object) -> None:
        if name in cls.passed_on:
            setattr(cls.made, name, value)
        else:
            super().__setattr__(name, value)
