"""The modules that schedule kinds of statements: each is imported when one of its kinds is used."""

import importlib

# for each module the names of the kinds' classes
KINDS_OF = {
    ".call_runtime": "CallRuntime",
    ".columns_by_index": "TakeColumns UpdateColumns",
    ".copies": "CheckRows Combine Copy Gather Scatter",
    ".cumulate": "Cumulate",
    ".map": "Map",
    ".reduce": "MapReduce Reduce",
    ".row_by_row": "RowByRow",
}

_PLACES = {name: module for module, names in KINDS_OF.items() for name in names.split()}


def import_schedule(kind: str) -> None:
    """Import the module that schedules a kind of statement of this name, if there is one."""
    if kind in _PLACES:
        importlib.import_module(_PLACES[kind], __package__)
