"""Names of a package that are imported when they are first used: most programs need few of them."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package that has such names.

    Parameters
    ----------
    package : str
        The name of the package.
    places : mapping
        For each name the module that has it, or that it is; ``.module`` is one of the package.

    Returns
    -------
    tuple of callable
    """
    known = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(places[name], package)
        known[name] = module if places[name] == f".{name}" else getattr(module, name)
        return known[name]

    def listed() -> list[str]:
        return sorted({*known, *places})

    return find, listed
