"""Classes of data do as Python's do."""

import copy
import dataclasses
import inspect
import pickle
import re
from dataclasses import FrozenInstanceError, field

import pytest

from tests_scan_grad.house.imports import PACKAGE
from theano.support.data_classes import dataclass

# Each kind of class, made by Python's decorator and by this package's
BOTH = pytest.mark.parametrize(
    "made_by", [dataclasses.dataclass, dataclass], ids=["Python", "ours"]
)

# What needs Python's: slots, and a base class of another package that is frozen
PYTHONS = {"compile/calls/locks.py", "pymc/compiled_model.py"}


def kinds(made_by):
    @made_by(frozen=True)
    class Point:
        """A place."""

        x: int
        y: tuple = ()
        seen: str = field(default="", compare=False)

    @made_by(frozen=True)
    class Named(Point):
        """A place with a name."""

        name: str = field(default="origin", repr=False)

        def __post_init__(self):
            assert isinstance(self.name, str)

    @made_by
    class Box:
        """A class whose objects are mutable."""

        values: list = field(default_factory=list)
        size: int = field(default=3, init=False)

    @made_by(eq=False)
    class Node:
        """One that is equal to itself only."""

        value: int

    @made_by(frozen=True)
    class Empty:
        """Without fields."""

    @made_by(frozen=True)
    class Own:
        """With its own methods."""

        value: int

        def __eq__(self, other):
            return isinstance(other, Own)

        def __hash__(self):
            return 7

        def __repr__(self):
            return "own"

    return Point, Named, Box, Node, Empty, Own


@BOTH
def test_equality_and_hashes(made_by):
    Point, Named, Box, Node, Empty, Own = kinds(made_by)
    assert Point(1, (2,), "here") == Point(1, (2,), "there") != Point(1, (3,))
    assert hash(Point(1, seen="here")) == hash(Point(1))
    assert Point(1) != Named(1)
    assert Named(1, name="a") != Named(1, name="b")
    assert Box([1]) == Box([1]) != Box([2])
    assert Box.__hash__ is None
    assert Node(1) != Node(1)
    assert len({Node(1), Node(1)}) == 2
    assert Empty() == Empty()
    assert len({Empty(), Empty()}) == 1
    assert Own(1) == Own(2)
    assert hash(Own(1)) == 7
    assert repr(Own(1)) == "own"


@BOTH
def test_fields_and_defaults(made_by):
    Point, Named, Box, *_ = kinds(made_by)
    assert Box().values == []
    assert Box().values is not Box().values
    assert Box([1]).size == 3
    assert [entry.name for entry in dataclasses.fields(Named)] == ["x", "y", "seen", "name"]
    assert dataclasses.replace(Named(1, name="a"), x=2) == Named(2, name="a")
    assert repr(Named(1)).endswith("Named(x=1, y=(), seen='')")
    assert Point.__match_args__ == ("x", "y", "seen")
    for wrong in ((), (1, 2, 3, 4), {"z": 1}):
        with pytest.raises(TypeError, match="__init__"):
            Point(**wrong) if isinstance(wrong, dict) else Point(*wrong)
    with pytest.raises(AssertionError):
        Named(1, name=2)


@BOTH
def test_frozen_fields_stay(made_by):
    Point, Named, Box, *_ = kinds(made_by)
    for one in (Point(1), Named(1)):
        with pytest.raises(FrozenInstanceError):
            one.x = 2
        with pytest.raises(FrozenInstanceError):
            one.new = 2
        with pytest.raises(FrozenInstanceError):
            del one.x
    box = Box()
    box.values = [1]
    assert box.values == [1]


@dataclass(frozen=True)
class Pickled:
    """An object that another process restores without calling its initializer."""

    name: str
    values: tuple = ()


def test_copies_that_no_initializer_made():
    one = Pickled("a", (1,))
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    assert hash(copy.copy(one)) == hash(one)


def test_initializer_is_written_at_the_first_object():
    Point, Named, *_ = kinds(dataclass)
    first = Point.__init__
    Named(1)
    assert Point.__init__ is first
    Point(1)
    assert Point.__init__ is not first
    assert list(inspect.signature(Point).parameters) == ["x", "y", "seen"]


def test_initializers_of_classes_with_as_many_fields_share_no_name():
    @dataclass(frozen=True)
    class Parent:
        """Whose names another class has, too."""

        first: int
        made: list = field(default_factory=list)

    @dataclass(frozen=True)
    class Other:
        """With as many."""

        second: str
        other: dict = field(default_factory=dict)

    assert Parent(1).made == [] and Other("a").other == {}
    assert vars(Parent(first=2, made=[3])) == {"first": 2, "made": [3]}
    assert vars(Other(other={1: 2}, second="b")) == {"second": "b", "other": {1: 2}}
    assert Other.__init__.__qualname__ == f"{Other.__qualname__}.__init__"
    with pytest.raises(TypeError, match=re.escape(f"{Parent.__qualname__}.__init__")):
        Parent(second=1)


def test_field_without_default_after_one_with_a_default():
    @dataclass
    class Wrong:
        """A class that Python's decorator would refuse."""

        first: int = 1
        second: int

    with pytest.raises(TypeError, match=r"Wrong\.second has no default"):
        Wrong(1, 2)


WITH_BASES = """
from __future__ import annotations
from dataclasses import field
from typing import ClassVar

class Plain:
    size = 3

@made_by(frozen=True)
class Base:
    "With a default."
    name: str = "a"
    size: int = 2

@made_by(frozen=True)
class Derived(Base, Plain):
    "Which keeps the default that its base has, and the place of the field."
    size: int
    made: list = field(default_factory=list, repr=False)
    last: str = field(default="end", compare=False)

@made_by(frozen=True)
class WithMore(Derived):
    "With what is no field."
    many: ClassVar[int] = 7
    name: str = "b"

@made_by(eq=False)
class Joined(Plain):
    "With the default of a base that has no fields."
    size: int
"""
OF_A_FIELD = ("name", "type", "default", "default_factory", "init", "repr", "compare", "kw_only")


def described(kind):
    """Return those properties of a class that its fields determine."""
    fields = [[getattr(f, name) for name in OF_A_FIELD] for f in dataclasses.fields(kind)]
    attributes = {f.name: vars(kind).get(f.name, "none") for f in dataclasses.fields(kind)}
    objects = [kind(), dataclasses.replace(kind(), size=9)]
    return fields, attributes, kind.__match_args__, dataclasses.is_dataclass(kind), repr(objects)


@pytest.mark.parametrize("name", ["Base", "Derived", "WithMore", "Joined"])
def test_fields_are_those_that_python_finds(name):
    kinds = []
    for made_by in (dataclasses.dataclass, dataclass):
        names = {"__name__": __name__, "made_by": made_by}
        exec(WITH_BASES, names)
        kinds.append(names[name])
    assert described(kinds[0]) == described(kinds[1])


@pytest.mark.skipif(not hasattr(copy, "replace"), reason="Python 3.13 has copy.replace")
def test_copies_with_other_values():
    assert copy.replace(Pickled("a"), values=(2,)) == Pickled("a", (2,))


@BOTH
def test_defaults_that_all_objects_would_share_are_refused(made_by):
    names: dict = {"__name__": __name__, "made_by": made_by}
    text = "from __future__ import annotations\n@made_by\nclass A:\n    x: list = []\n"
    with pytest.raises(ValueError, match="mutable default"):
        exec(text, names)


@BOTH
def test_fields_without_annotation_are_refused(made_by):
    names: dict = {"__name__": __name__, "made_by": made_by, "field": field}
    text = "from __future__ import annotations\n@made_by\nclass A:\n    x: int\n    y = field()\n"
    with pytest.raises(TypeError, match="no type annotation"):
        exec(text, names)


def test_package_has_one_kind_of_them():
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "from dataclasses import dataclass" in path.read_text()
    }
    assert users == PYTHONS | {"support/data_classes.py"}
