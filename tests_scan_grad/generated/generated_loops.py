"""Random loops, described as data: what `hypothesis` draws, and `built_loops` builds.

A description names the values of a step: invariants (``W``), the taps of sequences and states
(``x0[-1]``, ``s1[-2]``), and the results of its instructions (``v3``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from hypothesis import settings
from hypothesis import strategies as st

from tests_scan_grad.generated.step_operations import INVARIANTS, OPERATIONS, SPECIAL, signature

FLOAT_KINDS = ("matrix", "vector", "square", "scalar")


@dataclass(frozen=True)
class Sequence:
    """A sequence ``x0`` of values of one kind."""

    kind: str
    taps: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """A state ``s0``: its next value comes from the value named ``source``.

    ``update`` says how: 'squash' tanh(source), 'linear' a mean of source and state, 'accumulate'
    state + source, 'keep' the state unchanged, 'count' state + 1.
    """

    kind: str
    taps: tuple[int, ...]
    update: str
    source: str

    @property
    def newest(self) -> int:
        return max(self.taps)


@dataclass(frozen=True)
class Instruction:
    """An operation of the table in `step_operations` on named values."""

    operation: str
    operands: tuple[str, ...]


@dataclass(frozen=True)
class LoopDescription:
    """A loop, what is read of it, and how it is compiled.

    Attributes
    ----------
    batch, length
        Rows of a matrix; number of steps.
    n_steps
        How the number is given: by the 'sequences', as a 'constant' or 'symbolic'.
    surplus
        Rows that the sequences have too many.
    until
        The name of a value and the bound on the sum of its magnitudes that stops the loop.
    captured
        How the step gets invariants: as 'arguments', 'implicit', or 'shared' variables.
    traces
        Names of values that are returned and not read by the next step.
    reads
        What the cost reads of each output: 'all', 'last', 'last of rest', 'strided', 'none'.
    static
        Whether the types know the shapes.
    save
        The flag ``scan.save``.
    seed
        Of the numbers that the loop is run on.
    """

    batch: int
    length: int
    n_steps: str
    surplus: int
    sequences: tuple[Sequence, ...]
    states: tuple[State, ...]
    instructions: tuple[Instruction, ...]
    traces: tuple[str, ...]
    reads: tuple[str, ...]
    until: tuple[str, float] | None
    go_backwards: bool
    truncate_gradient: int
    captured: str
    static: bool
    save: str
    seed: int

    @property
    def operations(self) -> set[str]:
        return {instruction.operation for instruction in self.instructions}

    @property
    def draws(self) -> bool:
        return any(name.startswith("draw") for name in self.operations)

    @property
    def smooth(self) -> bool:
        """Return whether the gradient can be compared with finite differences."""
        bends = any(name in OPERATIONS and not OPERATIONS[name].smooth for name in self.operations)
        return not bends and self.truncate_gradient == -1

    def invariants(self) -> list[str]:
        used = {name for instruction in self.instructions for name in instruction.operands}
        used |= {state.source for state in self.states} | set(self.traces)
        used |= {self.until[0]} if self.until else set()
        return [name for name in INVARIANTS if name in used]


DEFAULTS = {
    "batch": st.sampled_from((3, 1, 3, 0)),
    "length": st.one_of(st.integers(1, 4), st.integers(1, 12)),
    "n_steps": st.sampled_from(("sequences", "constant", "symbolic")),
    "surplus": st.sampled_from((0, 0, 1, 2)),
    "sequence_kinds": st.lists(
        st.sampled_from(("matrix", "vector", "matrix", "scalar", "square")), max_size=2
    ),
    "sequence_taps": st.just((0,)),
    "state_kinds": st.lists(
        st.sampled_from(("matrix", "matrix", "vector", "square", "scalar")),
        min_size=1,
        max_size=3,
    ),
    "state_taps": st.sampled_from(((-1,), (-1,), (-1,), (-2,), (-1, -2))),
    "update": st.sampled_from(("squash", "squash", "linear", "accumulate", "keep")),
    "operation": st.sampled_from(tuple(OPERATIONS)),
    "first_operations": st.just(()),
    "operation_count": st.integers(1, 5),
    "trace_count": st.sampled_from((0, 0, 1, 2)),
    "read": st.sampled_from(("all", "last", "all", "strided", "last of rest", "none")),
    "until": st.none(),
    "go_backwards": st.sampled_from((False, False, False, True)),
    "truncate_gradient": st.just(-1),
    "captured": st.sampled_from(("arguments", "implicit", "shared")),
    "static": st.booleans(),
    "save": st.sampled_from(("auto", "auto", "all", "none")),
    "seed": st.integers(0, 9),
}

_TAPS_OF_STATES = st.sampled_from(((-1, -3), (-2,), (-1, -2), (-3, -1), (-3,)))

# family -> what its loops differ in from the defaults
FAMILIES: dict[str, dict[str, st.SearchStrategy]] = {
    "any": {},
    "products": {
        "operation": st.sampled_from([name for name, op in OPERATIONS.items() if op.product])
    },
    "gated": {
        "state_kinds": st.sampled_from((["matrix"], ["matrix", "matrix"])),
        "sequence_kinds": st.just(["matrix", "matrix"]),
        "operation": st.sampled_from(
            ("dot", "sigmoid", "tanh", "blend", "multiply", "add", "bias", "gates", "dot")
        ),
        "operation_count": st.integers(4, 8),
    },
    "accumulators": {
        "update": st.just("accumulate"),
        "state_kinds": st.lists(
            st.sampled_from(("square", "vector", "matrix", "square", "scalar")),
            min_size=1,
            max_size=2,
        ),
        "sequence_kinds": st.just(["matrix", "vector", "matrix"]),
        "operation": st.sampled_from(
            (
                "transposed gram",
                "outer",
                "sum of grams",
                "sum of rows",
                "scaled gram",
                "gram under a transpose",
                "dot",
                "two products",
                "square dot",
                "inner",
            )
        ),
        "operation_count": st.integers(1, 3),
        "read": st.sampled_from(("last", "last of rest", "last", "all")),
    },
    "taps": {"state_taps": _TAPS_OF_STATES},
    "sequence taps": {
        "sequence_kinds": st.lists(st.sampled_from(("matrix", "vector")), min_size=1, max_size=2),
        "sequence_taps": st.sampled_from(((-1, 0, 2), (1,), (-2,), (0, 1), (-1, -2))),
        "go_backwards": st.booleans(),
    },
    "until": {
        "until": st.sampled_from((0.3, 1.0, 2.0, 50.0)),
        "length": st.integers(1, 8),
        "state_taps": st.one_of(st.just((-1,)), _TAPS_OF_STATES),
    },
    "truncated": {
        "truncate_gradient": st.integers(1, 4),
        "length": st.integers(1, 8),
        "state_taps": st.one_of(st.just((-1,)), _TAPS_OF_STATES),
    },
    "nested": {
        "first_operations": st.sampled_from([(name,) for name in SPECIAL if "nested" in name]),
        "length": st.integers(1, 3),
    },
    "integers": {
        "sequence_kinds": st.just(["index", "indices", "mask", "narrow", "matrix"]),
        "state_kinds": st.sampled_from((["count", "matrix"], ["count", "vector", "matrix"])),
        "first_operations": st.lists(
            st.sampled_from(
                (
                    "embed",
                    "embed rows",
                    "mask",
                    "widen",
                    "divide by count",
                    "prefix gram",
                    "prefix sum",
                )
            ),
            min_size=1,
            max_size=3,
        ),
    },
    "changing shapes": {
        "sequence_kinds": st.just(["index", "vector"]),
        "state_kinds": st.sampled_from((["square"], ["vector"], ["square", "vector"])),
        "first_operations": st.sampled_from(
            (("prefix gram",), ("prefix sum",), ("prefix gram", "prefix sum"))
        ),
        "operation_count": st.integers(0, 2),
        "update": st.sampled_from(("accumulate", "accumulate", "squash")),
        "read": st.sampled_from(("last", "all")),
    },
    "few steps": {"length": st.sampled_from((1, 2)), "surplus": st.integers(0, 2)},
    "draws": {
        "first_operations": st.sampled_from([(name,) for name in SPECIAL if "draw" in name]),
        "state_kinds": st.sampled_from((["matrix"], ["matrix", "vector"])),
    },
    "returned twice": {
        "trace_count": st.integers(2, 3),
        "read": st.sampled_from(("all", "none", "last")),
    },
}


class _Names:
    """The values that a step has so far, by kind; newest first."""

    def __init__(self):
        self.by_kind: dict[str, list[str]] = {}
        for name, kind in INVARIANTS.items():
            self.add(name, kind)

    def add(self, name: str, kind: str) -> None:
        self.by_kind.setdefault(kind, []).insert(0, name)

    def has(self, kinds: tuple[str, ...]) -> bool:
        return all(kind in self.by_kind for kind in kinds)

    def one(self, draw, kind: str) -> str:
        return draw(st.sampled_from(self.by_kind[kind]))


@st.composite
def loops(draw, family: str = "any") -> LoopDescription:
    """Loops of one family."""
    strategies = DEFAULTS | FAMILIES[family]

    def choose(field: str):
        return draw(strategies[field])

    names = _Names()
    sequences = []
    for kind in choose("sequence_kinds"):
        taps = choose("sequence_taps")
        for tap in taps:
            names.add(f"x{len(sequences)}[{tap}]", kind)
        sequences.append(Sequence(kind, taps))
    states = []
    for kind in choose("state_kinds"):
        taps = (-1,) if kind == "count" else choose("state_taps")
        update = "count" if kind == "count" else choose("update")
        for tap in taps:
            names.add(f"s{len(states)}[{tap}]", kind)
        states.append((kind, taps, update))
    instructions = _instructions(draw, choose, names)
    states = [State(*state, names.one(draw, state[0])) for state in states]
    traces = [_trace(draw, names, states, instructions) for _ in range(choose("trace_count"))]
    # PyTensor removes draws that nothing reads, and then the others draw other numbers
    draws = [f"v{k}" for k, done in enumerate(instructions) if done.operation.startswith("draw")]
    bound = choose("until")
    length = choose("length")
    return LoopDescription(
        batch=choose("batch"),
        length=length,
        n_steps=choose("n_steps")
        if sequences
        else choose("n_steps").replace("sequences", "constant"),
        surplus=choose("surplus"),
        sequences=tuple(sequences),
        states=tuple(states),
        instructions=tuple(instructions),
        traces=(*traces, *draws),
        reads=tuple(_possible(choose("read"), length) for _ in (*states, *traces))
        + ("all",) * len(draws),
        until=None if bound is None else (names.one(draw, states[0].kind), bound),
        go_backwards=choose("go_backwards"),
        truncate_gradient=choose("truncate_gradient"),
        captured=choose("captured"),
        static=choose("static"),
        save=choose("save"),
        seed=choose("seed"),
    )


def _instructions(draw, choose, names: _Names) -> list[Instruction]:
    wanted = [*choose("first_operations")]
    wanted += [choose("operation") for _ in range(choose("operation_count"))]
    instructions = []
    for name in wanted:
        kinds, result = signature(name)
        if names.has(kinds):
            operands = tuple(names.one(draw, kind) for kind in kinds)
            names.add(f"v{len(instructions)}", result)
            instructions.append(Instruction(name, operands))
    return instructions


def _trace(draw, names: _Names, states: list[State], instructions: list[Instruction]) -> str:
    """A value to return: the next value of a state, a result, or anything else of the step."""
    candidates = [f"next s{k}" for k in range(len(states))]
    candidates += [f"v{k}" for k in range(len(instructions))]
    candidates += [name for kind in FLOAT_KINDS for name in names.by_kind.get(kind, ())]
    return draw(st.sampled_from(candidates))


def _possible(read: str, length: int) -> str:
    """Return a read if that many steps allow it, and otherwise one that they allow."""
    if length == 1 and read == "last of rest":
        return "last"
    return "all" if length == 0 and read.startswith("last") else read


def describe(loop: LoopDescription) -> str:
    """A description as lines of ``field = value``, for the message of a failing test."""
    return "\n".join(f"  {field.name} = {getattr(loop, field.name)!r}" for field in fields(loop))


def share_of_loops(count: int, floor: int = 1) -> settings:
    """Settings for one of ``count`` equal parts of the generated loops."""
    profile = settings.get_profile("generated_loops")
    return settings(profile, max_examples=max(floor, -(-profile.max_examples // count)))
