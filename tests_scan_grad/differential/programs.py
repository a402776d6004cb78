"""Programs as data: inputs, a loop whose step is a list of instructions, reads of its outputs."""

from __future__ import annotations

from dataclasses import dataclass, fields

# lengths of the dimensions of each kind of value; a length of 1 is broadcast
ROWS, COLUMNS = 2, 3
SHAPES: dict[str, tuple[int, ...]] = {
    "scalar": (),
    "vector": (COLUMNS,),
    "matrix": (ROWS, COLUMNS),
    "square": (COLUMNS, COLUMNS),
    "column": (ROWS, 1),
    "row": (1, COLUMNS),
}


@dataclass(frozen=True)
class Value:
    """The kind and the dtype of a value of a step."""

    kind: str
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        return SHAPES[self.kind]

    @property
    def is_floating(self) -> bool:
        return self.dtype.startswith("float")


@dataclass(frozen=True)
class Sequence:
    """An array that the loop goes through, read at taps around the present step."""

    name: str
    element: Value
    taps: tuple[int, ...]


@dataclass(frozen=True)
class Instruction:
    """``result = operation(operands)``; ``inner`` is the loop of a nested one."""

    result: str
    operation: str
    operands: tuple[str, ...]
    value: Value
    inner: Loop | None = None


@dataclass(frozen=True)
class State:
    """A value carried from step to step: what it becomes, and which values of it are read."""

    name: str
    value: Value
    taps: tuple[int, ...]
    update: str


@dataclass(frozen=True)
class Loop:
    """One loop.

    Attributes
    ----------
    steps
        How many steps it makes at most.
    given_steps
        Whether ``n_steps`` is given: "no" (then the sequences decide), "constant" or "variable".
    until
        The value whose element sum stops the loop where it exceeds a bound, and the bound.
    traces
        Values of the step that are returned and that no step reads.
    """

    steps: int
    given_steps: str
    sequences: tuple[Sequence, ...]
    states: tuple[State, ...]
    invariants: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    traces: tuple[str, ...]
    until: tuple[str, float] | None = None
    go_backwards: bool = False
    truncate: int = -1


@dataclass(frozen=True)
class Read:
    """Part of an output of the loop, as bounds of a slice or an index of its first axis."""

    output: int
    index: int | None
    bounds: tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class Program:
    """A loop, the values of its invariants, and what is read of its outputs."""

    seed: int
    loop: Loop
    invariants: dict[str, Value]
    reads: tuple[Read, ...]
    static: bool
    optimizer: str | None = None


def describe(program: Program) -> str:
    """A program as text, for the report of a failure."""
    lines = [f"seed {program.seed}, static {program.static}, optimizer {program.optimizer}"]
    lines += [f"  {name}: {value}" for name, value in program.invariants.items()]
    lines += _loop_lines(program.loop, "  ")
    lines += [f"  read {read}" for read in program.reads]
    return "\n".join(lines)


def _loop_lines(loop: Loop, indent: str) -> list[str]:
    simple = {
        field.name: getattr(loop, field.name)
        for field in fields(loop)
        if field.name not in ("sequences", "states", "instructions")
    }
    lines = [f"{indent}loop {simple}"]
    lines += [f"{indent}  {entry}" for entry in (*loop.sequences, *loop.states)]
    for entry in loop.instructions:
        operands = ", ".join(entry.operands)
        lines.append(
            f"{indent}  {entry.result} = {entry.operation}({operands}): "
            f"{entry.value.kind} {entry.value.dtype}"
        )
        if entry.inner is not None:
            lines += _loop_lines(entry.inner, indent + "    ")
    return lines
