"""The operation or the input from which a value has its dtype, for messages."""

from __future__ import annotations

from pytensor.graph.basic import Variable
from pytensor.graph.traversal import toposort

from theano.source_locations.lines import users_line
from theano.support.formatting.values import operation


def origin_of_dtype(dtype: str, value: Variable) -> str:
    """Return the first operation that makes a dtype of others, or the input that has it, with the user's line."""
    for node in toposort([value]):
        with_it = [v for v in node.inputs if getattr(v.type, "dtype", None) == dtype]
        leaf = next((v for v in with_it if v.owner is None), None)
        made = dtype in [getattr(v.type, "dtype", None) for v in node.outputs]
        if leaf is None and (with_it or not made):
            continue
        line = users_line(node)
        where = f" (created at {line})" if line else ""
        if leaf is not None:
            return f"{leaf} is {dtype}, which {operation(node.op)}{where} reads"
        return (
            f"{operation(node.op)}{where} makes it of {', '.join(str(v.type) for v in node.inputs)}"
        )
    return f"{value} is an input"
