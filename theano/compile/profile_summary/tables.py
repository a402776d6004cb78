"""The tables of a profile that show where the time of calls went: classes, operations, nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import field
from typing import Any, TextIO

from pytensor.graph.basic import Apply

from theano.configdefaults import config
from theano.support.data_classes import dataclass

HEADER = "<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply>"
HEADER_OF_NODES = "<% time> <sum %> <apply time> <time per call> <#call> <id>"


@dataclass
class Row:
    """The counts of a class, an operation or a node."""

    name: str
    seconds: float = 0.0
    calls: int = 0
    nodes: int = 0
    kinds: set[str] = field(default_factory=set)

    @property
    def kind(self) -> str:
        """C or Py, or both, as Theano's tables had it."""
        return "".join(sorted(self.kinds)).ljust(2)


def write_classes(profile: Any, file: TextIO, most: int) -> None:
    """Write the table of the classes of operations."""
    rows = _rows(profile, _class_of, lambda kind: str(kind)[8:-2])
    _write("Class", "Classes", "<Class name>", rows, profile.line_width, file, most)


def write_operations(profile: Any, file: TextIO, most: int) -> None:
    """Write the table of operations."""
    rows = _rows(profile, lambda node: node.op, str)
    _write("Ops", "Ops", "<Op name>", rows, profile.line_width, file, most)


def _class_of(node: Apply) -> Any:
    return type(node.op)


def _rows(
    profile: Any, key: Callable[[Any], Hashable], name: Callable[[Any], str]
) -> Iterable[Row]:
    rows: dict[Hashable, Row] = {}
    for place, seconds in profile.apply_time.items():
        _, node = place
        row = rows.setdefault(key(node), Row(name(key(node))))
        row.seconds += seconds
        row.calls += profile.apply_callcount.get(place, 0)
        row.nodes += 1
        row.kinds.add("C" if profile.apply_cimpl.get(node) else "Py")
    return rows.values()


def _write(
    title: str, plural: str, column: str, rows: Iterable[Row], width: int, file: TextIO, most: int
) -> None:
    whole = sum(row.seconds for row in rows)
    order = sorted(rows, key=lambda row: (-row.seconds, -row.calls, row.name))
    print(f"{title}\n---\n{HEADER} {column}", file=file)
    total = 0.0
    for row in order[:most]:
        if not row.calls:
            continue
        total += row.seconds
        line = (
            f"  {_percent(row.seconds, whole):4.1f}%   {_percent(total, whole):5.1f}%  "
            f"   {row.seconds:7.3f}s      {row.seconds / row.calls:8.2e}s     {row.kind}  "
            f" {row.calls:5d}  {row.nodes:6d}   {row.name}"
        )
        print(_cut(line, width), file=file)
    _write_rest(plural, [row.seconds for row in order[most:]], whole, file)


def write_nodes(profile: Any, file: TextIO, most: int) -> None:
    """Write the table of nodes, with the shapes of their values where they are known."""
    whole = sum(profile.apply_time.values())
    orders: dict[Any, dict[Any, int]] = {}
    for graph, _ in profile.apply_time:
        if graph not in orders:
            orders[graph] = {node: k for k, node in enumerate(graph.toposort())}
    order = sorted(
        profile.apply_time.items(),
        key=lambda item: (-item[1], -orders[item[0][0]].get(item[0][1], 0)),
    )
    flops = " <Mflops> <Gflops/s>" if profile.variable_shape else ""
    print(f"Apply\n------\n{HEADER_OF_NODES}{flops} <Apply name>", file=file)
    total = 0.0
    for (graph, node), seconds in order[:most]:
        total += seconds
        calls = profile.apply_callcount.get((graph, node), 0)
        if not calls:
            continue
        line = (
            f"  {_percent(seconds, whole):4.1f}%   {_percent(total, whole):5.1f}%  "
            f"   {seconds:7.3f}s      {seconds / calls:8.2e}s  {calls:5d}  "
            f" {orders[graph].get(node, -1):3d}{_flops(profile, node, calls, seconds)}   {node}"
        )
        print(_cut(line, profile.line_width), file=file)
        if config.profile_memory:
            _write_values(profile, node, file)
    _write_rest("Apply instances", [seconds for _, seconds in order[most:]], whole, file)


def _flops(profile: Any, node: Apply, calls: int, seconds: float) -> str:
    if not profile.variable_shape:
        return ""
    known = all(v in profile.variable_shape for v in [*node.inputs, *node.outputs])
    if not hasattr(node.op, "flops") or not known:
        return " " * 19
    count = node.op.flops(
        [profile.variable_shape[v] for v in node.inputs],
        [profile.variable_shape[v] for v in node.outputs],
    )
    rate = count * calls / seconds / 1024**3 if seconds else 0.0
    return f" {count / 1024**2:8.1f} {rate:9.1f}"


def _write_values(profile: Any, node: Apply, file: TextIO) -> None:
    for what, variables in (("input", node.inputs), ("output", node.outputs)):
        for k, variable in enumerate(variables):
            dtype = getattr(variable, "dtype", "no dtype")
            shape = profile.variable_shape.get(variable, "no shape")
            strides = profile.variable_strides.get(variable)
            known = "" if strides is None else f", strides={strides}"
            print(f"    {what} {k}: dtype={dtype}, shape={shape}{known}", file=file)


def _write_rest(what: str, seconds: list[float], whole: float, file: TextIO) -> None:
    rest = sum(seconds)
    print(
        f"   ... (remaining {len(seconds)} {what} account for {_percent(rest, whole):6.2f}%"
        f"({rest:.2f}s) of the runtime)\n",
        file=file,
    )


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _cut(line: str, width: int) -> str:
    return line[: max(width, 1)]
