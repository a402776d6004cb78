"""Pickles: graphs without what only helps while they are built, and arrays in their own files."""

import io
import pickle
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable

from theano.pytensor_internals.graphs.graph import Scratchpad

__all__ = [
    "CompatUnpickler",
    "PersistentNdarrayID",
    "PersistentNdarrayLoad",
    "PersistentSharedVariableID",
    "StripPickler",
    "dump",
    "load",
    "zipadd",
]

# Pickling a graph takes a few calls of Python for each node.
NEEDED_RECURSION = 3000
sys.setrecursionlimit(max(sys.getrecursionlimit(), NEEDED_RECURSION))


class StripPickler(pickle.Pickler):
    """A pickler that leaves out traces and test values of variables.

    Parameters
    ----------
    file : file
    protocol : int, optional
    extra_tag_to_remove : str or iterable of str, optional
        Further attributes of ``variable.tag`` to leave out.
    """

    def __init__(
        self, file: Any, protocol: int = 0, extra_tag_to_remove: str | Iterable[str] | None = None
    ):
        super().__init__(file, protocol)
        extra = extra_tag_to_remove or ()
        self.tag_to_remove = [
            "trace",
            "test_value",
            *([extra] if isinstance(extra, str) else extra),
        ]

    def reducer_override(self, obj: object) -> Any:
        if not isinstance(obj, Scratchpad):
            return NotImplemented
        kept = {name: v for name, v in vars(obj).items() if name not in self.tag_to_remove}
        return type(obj), (), kept


class CompatUnpickler(pickle.Unpickler):
    """An unpickler that reads what Python 2 wrote; give it ``encoding="latin1"``.

    Python's own reads it, since NumPy takes text for bytes; the name is for programs that have it.
    """


class PersistentNdarrayID:
    """Writes the arrays of a pickle into their own files.

    Parameters
    ----------
    zip_file : ZipFile
        Where the files go.
    """

    def __init__(self, zip_file: zipfile.ZipFile):
        self.zip_file = zip_file
        self.count = 0
        self.seen: dict[int, str] = {}

    def _resolve_name(self, obj: np.ndarray) -> str:
        self.count += 1
        return f"array_{self.count - 1}"

    def __call__(self, obj: object) -> str | None:
        if type(obj) is not np.ndarray:
            return None
        if id(obj) not in self.seen:
            name = self._resolve_name(obj)
            zipadd(lambda file: np.lib.format.write_array(file, obj), self.zip_file, name)
            self.seen[id(obj)] = f"ndarray.{name}"
        return self.seen[id(obj)]


class PersistentSharedVariableID(PersistentNdarrayID):
    """Writes the arrays of a pickle into files that have the names of shared variables.

    Parameters
    ----------
    zip_file : ZipFile
        Where the files go.
    allow_unnamed : bool, optional
        Whether a shared variable may have no name.
    allow_duplicates : bool, optional
        Whether several may have the same; they get numbers.

    Raises
    ------
    ValueError
        When a name is missing or there twice, and that is not allowed; or is ``pkl``.
    """

    def __init__(
        self, zip_file: zipfile.ZipFile, allow_unnamed: bool = True, allow_duplicates: bool = True
    ):
        super().__init__(zip_file)
        self.allow_unnamed, self.allow_duplicates = allow_unnamed, allow_duplicates
        self.ndarray_names: dict[int, str] = {}
        self.name_counter: Counter[str] = Counter()

    def _resolve_name(self, obj: np.ndarray) -> str:
        name = self.ndarray_names.get(id(obj))
        if name is None:
            return super()._resolve_name(obj)
        self.name_counter[name] += 1
        number = self.name_counter[name]
        if number > 1 and not self.allow_duplicates:
            raise ValueError(f"multiple shared variables with the name {name!r} found")
        return name if number == 1 else f"{name}_{number}"

    def __call__(self, obj: object) -> str | None:
        if isinstance(obj, SharedVariable):
            if obj.name == "pkl":
                raise ValueError("can't pickle a shared variable with the name 'pkl'")
            if obj.name:
                self.ndarray_names[id(obj.container.storage[0])] = obj.name
            elif not self.allow_unnamed:
                raise ValueError(f"unnamed shared variable: {obj}")
        return super().__call__(obj)


class PersistentNdarrayLoad:
    """Reads the arrays of a pickle from their files.

    Parameters
    ----------
    zip_file : ZipFile
        Where the files are.
    """

    def __init__(self, zip_file: zipfile.ZipFile):
        self.zip_file = zip_file
        self.cache: dict[str, np.ndarray] = {}

    def __call__(self, persid: str) -> np.ndarray:
        name = persid.split(".", 1)[1]
        if name not in self.cache:
            with self.zip_file.open(name) as file:
                self.cache[name] = np.lib.format.read_array(file)
        return self.cache[name]


def dump(
    obj: object,
    file_handler: Any,
    protocol: int = pickle.DEFAULT_PROTOCOL,
    persistent_id: Callable[[zipfile.ZipFile], Callable] = PersistentSharedVariableID,
) -> None:
    """Pickle an object to a zip file that holds its arrays as files, which `numpy.load` reads.

    Parameters
    ----------
    obj : object
    file_handler : file
        File to write, in binary mode.
    protocol : int, optional
        Protocol of the pickle, which is the file ``pkl``.
    persistent_id : callable, optional
        Makes, of the zip file, what says under which name a part of the object is stored.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> import theano
    >>> from theano.misc.pkl_utils import dump, load
    >>> file = io.BytesIO()
    >>> dump(theano.shared(np.ones(2), name="w"), file)
    >>> _ = file.seek(0)
    >>> sorted(np.load(file))
    ['pkl', 'w']
    >>> load(file).get_value()
    array([1., 1.])
    """
    with zipfile.ZipFile(file_handler, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as zip_file:

        def write(file: object) -> None:
            _Pickler(file, protocol, persistent_id(zip_file)).dump(obj)

        zipadd(write, zip_file, "pkl")


def load(
    f: Any, persistent_load: Callable[[zipfile.ZipFile], Callable] = PersistentNdarrayLoad
) -> Any:
    """Load what `dump` wrote.

    Parameters
    ----------
    f : file
        File to read, in binary mode.
    persistent_load : callable, optional
        Makes, of the zip file, what finds a part that was stored under a name.

    Returns
    -------
    object
    """
    with zipfile.ZipFile(f, "r") as zip_file:
        return _Unpickler(io.BytesIO(zip_file.read("pkl")), persistent_load(zip_file)).load()


class _Pickler(pickle.Pickler):
    # the method asks an attribute: the method of a pickler itself cannot be set
    def __init__(self, file: Any, protocol: int | None, name_of: Callable[[Any], Any]):
        super().__init__(file, protocol=protocol)
        self.name_of = name_of

    def persistent_id(self, part: object) -> Any:
        return self.name_of(part)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, part_of: Callable[[Any], Any]):
        super().__init__(file)
        self.part_of = part_of

    def persistent_load(self, name: object) -> Any:
        return self.part_of(name)


def zipadd(func: Callable[[Any], object], zip_file: zipfile.ZipFile, name: str) -> None:
    """Add to a zip file what `func` writes into the file that it is given.

    Parameters
    ----------
    func : callable
    zip_file : ZipFile
    name : str
        Name in the zip file.
    """
    written = io.BytesIO()
    func(written)
    zip_file.writestr(name, written.getvalue())
