"""How two numbers become one, where many are accumulated."""

from __future__ import annotations

ACCUMULATE = {
    "add": "{0} + {1}",
    "multiply": "{0} * {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "exclusive or": "{0} ^ {1}",
    "multiply without zeros": "{0} == 0 ? {1} : {1} == 0 ? {0} : {0} * {1}",
    "maximum": "({0} != {0} || {0} > {1}) ? {0} : {1}",
    "minimum": "({0} != {0} || {0} < {1}) ? {0} : {1}",
}
