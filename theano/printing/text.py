"""Graphs as text: `debugprint`, and short forms that distinguish graphs."""

import string
import sys
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from io import StringIO
from typing import Any, TextIO

import numpy as np
from pytensor.compile.io import SymbolicInput, SymbolicOutput
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph, Output

from theano.printing.names import inner_name, operation_name, type_name, variable_name
from theano.printing.vector_products import factors_of_vectors
from theano.pytensor_internals.functions.compiling import Function
from theano.pytensor_internals.graphs.scan import Scan
from theano.support.data_classes import dataclass

__all__ = ["debugprint", "min_informative_str", "position_independent_str"]

TIMES = """
Timing Info
-----------
--> <time> <% time> - <total time> <% total time>'

<time>         seconds that this node took
<% time>       their part of all calls of the function
<total time>   seconds that this node and all that it depends on took
<% total time> their part of all calls of the function

What two inputs of a node both depend on counts twice in a total: it is an upper bound.
"""


@dataclass
class Root:
    """A variable to print, and what is known of the graph that it belongs to."""

    variable: Variable
    fgraph: FunctionGraph | None = None
    profile: Any = None
    storage: dict | None = None


@dataclass
class Line:
    """A variable in its place on paper: what stands before it and before what it depends on."""

    variable: Variable
    prefix: str
    prefix_below: str
    depth: int


@dataclass
class Loop:
    """A loop whose step is printed.

    Attributes
    ----------
    node
        Its application.
    parent
        The loop in whose step it is.
    outer
        Which outer variable each input of the step stands for.
    """

    node: Apply
    parent: "Loop | None" = None
    outer: dict[Variable, Variable] = field(default_factory=dict)

    def key(self) -> tuple:
        """Return what distinguishes its step from others, which may be made of the same variables and nodes."""
        return (self.node, self.parent.key() if self.parent is not None else None)

    def name_of(self, variable: Variable) -> str | None:
        """Return the name of a variable in its step."""
        if variable not in self.outer:
            return variable.name
        return inner_name(variable, self.outer[variable], self.node, self._name_outside)

    def _name_outside(self, variable: Variable) -> str | None:
        """Return the name where the loop is: in a step, that of which the step has a copy."""
        if self.parent is None or variable not in self.parent.outer:
            return variable.name
        name = self.parent.name_of(variable)
        return None if name is None else name.removesuffix("_copy")


@dataclass
class Writer:
    """The common state of all lines of one call."""

    file: TextIO
    ids: str
    print_type: bool
    stop_on_name: bool
    print_clients: bool
    done: dict[Any, str]
    used: dict[Any, str] = field(default_factory=dict)
    loops: list[tuple[Variable, Loop | None]] = field(default_factory=list)

    def mark(self, thing: object, loop: Loop | None, *, printed: bool = True) -> str:
        """Return what distinguishes a node or an input from others."""
        key = _key(thing, loop)
        if key not in self.used:
            self.used[key] = {
                "id": f"[id {id(thing)}]",
                "int": f"[id {len(self.used)}]",
                "CHAR": f"[id {letters(len(self.used))}]",
                "": "",
            }[self.ids]
        if printed:
            self.done[key] = self.used[key]
        return self.used[key]

    def write_graph(
        self, root: Root, prefix: str = "", depth: int = -1, loop: Loop | None = None
    ) -> None:
        """Print what a variable is computed from, a line each."""
        nodes = root.fgraph.toposort() if root.fgraph is not None else []
        order = {node: position for position, node in enumerate(nodes)}
        below = [Line(root.variable, prefix, prefix, depth)]
        while below:
            line = below.pop()
            if line.depth == 0:
                continue
            if root.fgraph is None:
                line = replace(line, variable=_as_given(line.variable))
            variable, node = line.variable, line.variable.owner
            if node is None:
                self.write_input(line, root, loop)
                continue
            if isinstance(node.op, Scan):
                self.loops.append((variable, loop))
            new = _key(node, loop) not in self.done
            # a graph that was rewritten is shown as it runs
            factors = factors_of_vectors(variable) if root.fgraph is None else None
            self.write_node(line, root, order, loop, "dot" if factors else operation_name(node))
            if new and not (self.stop_on_name and variable.name is not None):
                below.extend(reversed(list(_lines_below(line, factors or node.inputs))))

    def write_node(
        self, line: Line, root: Root, order: dict[Apply, int], loop: Loop | None, operation: str
    ) -> None:
        """Print a variable that is computed, by its operation."""
        variable, node = line.variable, line.variable.owner
        assert node is not None
        position = f".{node.outputs.index(variable)}" if len(node.outputs) > 1 else ""
        mark = self.mark(node, loop)
        # The two places that stay empty are those of debug mode's maps.
        text = (
            f"{line.prefix}{operation}{position} {mark}{self._type(variable)} "
            f"'{variable.name or ''}'   {order.get(node, '')}"
        )
        if root.storage:
            text += f" {root.storage.get(node.outputs[0], '')}"
        text += self._clients(variable, root, order) + _times(node, root)
        print(text, file=self.file)

    def write_input(self, line: Line, root: Root, loop: Loop | None) -> None:
        """Print a variable that is given."""
        variable = line.variable
        mark = self.mark(variable, loop)
        if loop is not None and variable in loop.outer:
            outer = loop.outer[variable]
            name = loop.name_of(variable) or f"<{type_name(variable.type)}>"
            given = outer if outer.owner is None else outer.owner
            end = f" -> {self.mark(given, loop.parent)}"
        else:
            name = variable_name(variable)
            end = f" {root.storage.get(variable, '')}" if root.storage else ""
        print(f"{line.prefix}{name} {mark}{self._type(variable)}{end}", file=self.file)

    def _type(self, variable: Variable) -> str:
        return f" <{type_name(variable.type)}>" if self.print_type else ""

    def _clients(self, variable: Variable, root: Root, order: dict[Apply, int]) -> str:
        if not self.print_clients or root.fgraph is None:
            return ""
        clients = [node for node, _ in root.fgraph.clients.get(variable, ())]
        if len(clients) < 2:
            return ""
        # As Theano lists them: what is returned first, and the word takes a letter.
        clients.sort(key=lambda node: not isinstance(node.op, Output))
        described: list[tuple[str, Any]] = []
        for node in clients:
            if isinstance(node.op, Output):
                self.used["output"] = "output"
                described.append(("output", ""))
            else:
                described.append((self.mark(node, None, printed=False), order.get(node, "")))
        return f" clients:{described}"


def _as_given(variable: Variable) -> Variable:
    """Return what the user gave, in place of a check of it that `theano.scan` added."""
    while getattr(variable.tag, "printed_as_given", False) and variable.owner is not None:
        variable = variable.owner.inputs[0]
    return variable


def debugprint(
    obj: object,
    depth: int = -1,
    print_type: bool = False,
    file: object = None,
    ids: str = "CHAR",
    stop_on_name: bool = False,
    done: dict | None = None,
    print_storage: bool = False,
    print_clients: bool = False,
    used_ids: dict | None = None,
) -> Any:
    """Print a graph as text, one line a variable; the steps of its loops come after it.

    Parameters
    ----------
    obj : variable, application, function, In or Out, number, or list of them
    depth : int
        How many levels to print; -1 for all.
    print_type : bool
        Whether to add each variable's type.
    file : None, 'str', or file
        Where to print: standard output, a string that is returned, or a file.
    ids : {'CHAR', 'int', 'id', ''}
        How a variable that is printed twice is marked.
    stop_on_name : bool
        Whether to stop at variables that have a name.
    done : dict, optional
        What an earlier call printed, which is not printed again; it is added to.
    print_storage : bool
        Whether to add the values that a function holds.
    print_clients : bool
        Whether to add, to what several nodes of a function use, which ones do.
    used_ids : dict, optional
        The marks that an earlier call gave, to continue with; it is added to.

    Returns
    -------
    str or file or None
        The text if `file` is ``'str'``, else `file`.

    Raises
    ------
    TypeError
        When `obj` or a part of it is nothing that has a graph.
    """
    if not isinstance(depth, int):
        raise TypeError(f"debugprint: depth must be an int, not {depth!r}")
    if ids not in ("id", "int", "CHAR", ""):
        raise ValueError(f"debugprint: ids must be 'id', 'int', 'CHAR' or '', not {ids!r}")
    out: Any = StringIO() if file == "str" else sys.stdout if file is None else file
    done = {} if done is None else done
    used = {} if used_ids is None else used_ids
    writer = Writer(out, ids, print_type, stop_on_name, print_clients, done, used)
    roots: list[Root] = []
    for item in obj if isinstance(obj, list | tuple | set) else [obj]:
        if isinstance(item, int | float | np.ndarray):
            print(item, file=out)
        else:
            roots.extend(_roots(item, print_storage))
    if any(root.profile is not None and root.profile.fct_callcount > 0 for root in roots):
        print(TIMES, file=out)
    for root in roots:
        writer.write_graph(root, depth=depth)
    _write_loops(writer, depth)
    return out.getvalue() if file == "str" else file


def _roots(item: object, print_storage: bool) -> Iterator[Root]:
    if isinstance(item, Variable):
        yield Root(item)
    elif isinstance(item, SymbolicInput | SymbolicOutput):
        yield Root(item.variable)
    elif isinstance(item, Apply):
        yield from map(Root, item.outputs)
    elif isinstance(item, FunctionGraph):
        profile = getattr(item, "profile", None)
        yield from (Root(variable, item, profile) for variable in item.outputs)
    elif isinstance(item, Function):
        fgraph = item.maker.fgraph
        storage = item.vm.storage_map if print_storage else None
        yield from (Root(v, fgraph, item.profile, storage) for v in fgraph.outputs)
    else:
        raise TypeError(f"debugprint cannot print an object of type {type(item)}: {item!r}")


def _write_loops(writer: Writer, depth: int) -> None:
    """Print the step of each loop that was found, also of those that are found on the way."""
    if not writer.loops:
        return
    print("\nInner graphs of the scan ops:", file=writer.file)
    position = 0
    while position < len(writer.loops):
        variable, parent = writer.loops[position]
        position += 1
        node = variable.owner
        assert node is not None
        mapping = node.op.get_oinp_iinp_iout_oout_mappings()["outer_inp_from_inner_inp"]
        inner = node.op.inner_inputs
        loop = Loop(node, parent, {inner[i]: node.inputs[o] for i, o in mapping.items()})
        print(file=writer.file)
        line = Line(variable, "", "", depth)
        writer.write_node(line, Root(variable), {}, parent, operation_name(node))
        for output in node.op.inner_outputs:
            writer.write_graph(Root(output), " >", depth, loop)


def _key(thing: object, loop: Loop | None) -> Any:
    return thing if loop is None else (thing, loop.key())


def _lines_below(line: Line, given: Sequence[Variable]) -> Iterator[Line]:
    for position, variable in enumerate(given, start=1):
        last = position == len(given)
        below = line.prefix_below + ("  " if last else " |")
        yield Line(variable, line.prefix_below + " |", below, line.depth - 1)


def _times(node: Apply, root: Root) -> str:
    profile = root.profile
    if profile is None or (root.fgraph, node) not in profile.apply_time:
        return ""
    own, total = profile.apply_time[root.fgraph, node], profile.compute_total_times()[node]
    calls = profile.fct_call_time
    return f" --> {own:8.2e}s {own / calls:5.1%} {total:8.2e}s {total / calls:5.1%}"


def letters(number: int) -> str:
    """Return a number as capital letters: A to Z, then BA, BB and so on."""
    digits = string.ascii_uppercase
    text = digits[number % 26]
    while number >= 26:
        number //= 26
        text = digits[number % 26] + text
    return text


def min_informative_str(
    obj: Any, indent_level: int = 0, _prev_obs: dict | None = None, _tags: list | None = None
) -> str:
    """Return a text that distinguishes a variable's graph from others, a line an operation or input.

    Parameters
    ----------
    obj : Variable
    indent_level : int, optional
        How far to indent.

    Returns
    -------
    str
        Each line begins with a letter, by which it is referred to where it occurs again.
    """
    seen = {} if _prev_obs is None else _prev_obs
    indent = " " * indent_level
    if obj in seen:
        return f"{indent}<{seen[obj]}>"
    seen[obj] = tag = letters(len(seen))
    if obj.name is not None or obj.owner is None or isinstance(obj, Constant):
        return f"{indent}{tag}. {variable_name(obj)}"
    lines = [f"{indent}{tag}. {operation_name(obj.owner)}"]
    lines += [
        min_informative_str(variable, indent_level + 1, seen) for variable in obj.owner.inputs
    ]
    return "\n".join(lines)


def position_independent_str(obj: object) -> str:
    """Return a text that is the same for equal graphs in different processes."""
    return f"theano_graph={min_informative_str(obj)}"
