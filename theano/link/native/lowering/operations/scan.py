"""A Scan inside a step or a segment: a call of a loop that is a separate C function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theano.link.native.ir.ir import (
    FIRST_ARRAY,
    FIRST_RESULT,
    Argument,
    Buffer,
    CannotLower,
    IndexVector,
    Scalar,
    Size,
    Splat,
    StepError,
    Value,
    View,
)
from theano.link.native.ir.layout import c_order, first_element, place_of
from theano.link.native.ir.prologue import (
    BeginCall,
    Element,
    NameNumber,
    PassNumber,
    ShowArray,
    ShowList,
)
from theano.link.native.ir.symbolic import (
    Call,
    Choice,
    Item,
    Name,
    Symbolic,
    both,
    compared,
    difference,
    sum_of,
)
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.call_loop import WRITTEN_KINDS, CallLoop, When
from theano.link.native.statements.copy import Copy
from theano.pytensor_internals.graphs.scan import FrozenWhenAsked, Scan
from theano.scan_module.loop.roles import Roles, given_to
from theano.scan_module.scan_op import Scan as OurScan


@lowers(Scan, FrozenWhenAsked, OurScan)
def scan(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Copy the states' buffers, to be updated in place; traces get their own memory."""
    op, roles = node.op, Roles.of(node.op)
    if roles.may_stop and step.repeats:
        raise CannotLower("a loop inside a loop whose number of steps depends on its values")
    parts = roles.outer_inputs(inputs)
    steps = step.size(parts.n_steps, "a number of steps of a loop inside")
    step.sizes.check(compared(steps, ">=", 0), "a number of steps that is not negative")
    call = LoopCall.of(step, op, argument_names(node), steps)
    for argument, value in zip(call.of_kind("sequence"), parts.sequences, strict=True):
        call.bind(argument, _in_rows(step, value, steps))
        if argument.name not in call.read:
            call.only_sizes.add(id(argument))
    for argument, value in zip(call.of_kind("mit_mot", "ring"), parts.states, strict=True):
        call.bind(argument, call.state(argument, value))
    for argument, value in zip(call.of_kind("untraced"), parts.untraced, strict=True):
        call.bind(argument, View.of(_copied(step, value)))
    call.bind_invariants(parts.invariants)
    call.plan(parts.trace_lengths)
    call.append()
    if roles.may_stop:
        call.record_reached_rows()
    return [*call.results("mit_mot", "ring"), *call.results("trace"), *call.results("untraced")]


def argument_names(node) -> list[str | None]:
    """Return the names of the arrays of a loop, in the order of the step's inputs."""
    # the number of steps and the lengths of traces are no arrays
    _, *arrays = replace(given_to(node), trace_lengths=[]).in_order()
    return [variable.name for variable in arrays]


def _copied(step: Step, value: Value) -> Buffer:
    if isinstance(value, Scalar):
        buffer = step.temporary(value.dtype, ())
        step.append(Copy(View.of(buffer), value), buffer)
        return buffer
    return step.copied(value)


def _in_rows(step: Step, value: Value, steps: Size) -> View:
    """Return a sequence: any stride between its rows, C order within them."""
    view = step.keep_order(step.view(value))
    step.sizes.check(compared(view.shape[0], ">=", steps), "a sequence as long as the loop")
    strides = place_of(view, step.sizes).strides
    expected = c_order(view.shape, step.sizes)
    if strides[1:] == expected[1:]:
        return view
    return View.of(step.copied(view))


class LoopCall:
    """The variables and statements of one call.

    Attributes
    ----------
    when
        The condition on which it is made; None: in each step.
    guard
        The same where it is known before the loop: else the loop is not asked about sizes either.
    """

    when: When | None = None
    guard: Symbolic | None = None

    @classmethod
    def of(cls, step: Step, op: Scan, names: Sequence[str | None], steps: Size) -> LoopCall:
        """Return the next call of a step, whose loop is lowered now."""
        prefix = f"l{len(step.loops)}"
        assert step.lower_loop is not None
        loop = step.lower_loop(op, names, f"{step.name}_{prefix}")
        step.loops.append(loop)
        return cls(step, loop, prefix, steps)

    def __init__(self, step: Step, loop: Loop, prefix: str, steps: Size):
        self.step, self.loop, self.prefix, self.steps = step, loop, prefix, steps
        # the names of arrays of which the loop needs more than the sizes
        self.read = loop.arrays_read()
        self.bound: dict[int, View | Scalar] = {}
        # lists of numbers that are known before the loop, by the arguments that they are in memory
        self.lists: dict[int, tuple[Scalar, ...]] = {}
        # arguments of which the loop needs no more than the sizes
        self.only_sizes: set[int] = set()

    def of_kind(self, *kinds: str) -> list[Argument]:
        # Scan's order of states: those with several outputs a step come first.
        return [a for kind in kinds for a in self.loop.arguments if a.kind == kind]

    def bind(self, argument: Argument, value: View | Scalar) -> None:
        self.bound[id(argument)] = value

    def bind_invariants(self, values: Sequence[Value]) -> None:
        given = iter(values)
        for argument in self.of_kind("invariant"):
            if argument.constant is not None:
                self.bind(argument, self.step.constant_array(argument.constant))
                continue
            value = next(given)
            if argument.shape and argument.name not in self.read:
                self.bind(argument, self.step.view(value))
                self.only_sizes.add(id(argument))
            else:
                self.bind(argument, self.invariant(argument, value))

    def state(self, argument: Argument, value: Value) -> View:
        """Return a new buffer with the initial rows of a state."""
        step, rows = self.step, value.shape[0]
        needed: Size = argument.history
        if argument.kind == "mit_mot":
            reach = max(argument.taps) - min(argument.taps)
            needed = step.sizes.binary(self.steps, "+", reach)
            return View.of(self._checked(rows, needed, step.copied(value)))
        if isinstance(value, View) and value.whole:
            # nothing but this loop may need the buffer: then it is not copied at all
            buffer = self._checked(rows, needed, step.temporary(value.dtype, value.shape))
            step.append(Copy(View.of(buffer), value, rows=argument.history), buffer)
            return View.of(buffer)
        buffer = self._checked(rows, needed, step.temporary(value.dtype, value.shape))
        source = value.scalar if isinstance(value, Splat) else step.view(value)
        shape = (argument.history, *value.shape[1:])
        front = source if isinstance(source, Scalar) else _front(source, shape)
        step.append(Copy(_front(View.of(buffer), shape), front), buffer)
        return View.of(buffer)

    def _checked(self, rows: Size, needed: Size, buffer: Buffer) -> Buffer:
        name = self.loop.name
        enough = both(compared(rows, ">=", needed), compared(rows, ">", 0))
        self.step.sizes.check(enough, f"enough rows of {name}")
        return buffer

    def invariant(self, argument: Argument, value: Value) -> View | Scalar:
        if isinstance(value, Scalar):
            return value
        items = _items_of(value)
        if items and all(item.invariant for item in items):
            self.lists[id(argument)] = items
        step = self.step
        view = step.keep_order(step.view(value))
        in_order = place_of(view, step.sizes).strides == c_order(view.shape, step.sizes)
        return view if in_order or argument.free_strides else View.of(step.copied(view))

    def plan(self, lengths: list[Value]) -> None:
        """Have the loop say what it needs, and make the memory of its traces."""
        rows = [self.step.size(one, "a length of a trace of a loop inside") for one in lengths]
        self.ask(rows)
        for count, (trace, shape) in zip(rows, self.traces_with_shapes(), strict=True):
            self.bind(trace, View.of(self.step.temporary(trace.dtype, [count, *shape])))

    def ask(self, rows: Sequence[Size]) -> None:
        """Have the loop check the sizes and say what it needs, in the caller's prologue."""
        step, loop, prefix, sizes = self.step, self.loop, self.prefix, self.step.sizes
        traces = self.of_kind("trace")
        results = FIRST_RESULT + sum(len(a.shape) for a in traces)
        arrays = FIRST_ARRAY + len(loop.arguments)
        begin = BeginCall(prefix, loop.name, loop.number_count, arrays, results, self.steps)
        sizes.entries.append(begin)
        for trace, count in zip(traces, rows, strict=True):
            # PyTensor keeps no row of a loop without steps, however many were asked for.
            some, steps = compared(count, ">", 0), compared(self.steps, ">", 0)
            sizes.check(compared(some, "==", steps), "rows where there are steps")
            self._number(trace.first_size, count)
        for argument in loop.arguments:
            if argument.kind != "trace":
                self._sizes_of(argument)
        self._show_numbers()
        passed = tuple(Name(f"{prefix}_{what}") for what in ("numbers", "arrays", "result"))
        fits: Symbolic = compared(Call(loop.step.name, passed), "==", 0)
        sizes.check(fits if self.guard is None else Choice(self.guard, fits, 1), loop.name)
        self.work = step.temporary("int8", (self._returned(1),))

    def _returned(self, position: int) -> Size:
        """Return a size that the loop returned, if it was asked."""
        item: Symbolic = Item(f"{self.prefix}_result", position)
        return self.step.sizes.name(item if self.guard is None else Choice(self.guard, item, 0))

    def traces_with_shapes(self) -> list[tuple[Argument, list[Size]]]:
        """Return the traces, and the shapes of their rows as the loop returned them."""
        found, position = [], FIRST_RESULT
        for trace in self.of_kind("trace"):
            shape: list[Size] = []
            for size in trace.shape:
                known = self._known_size(size)
                shape.append(self._returned(position) if known is None else known)
                position += 1
            found.append((trace, shape))
        return found

    def _number(self, position: int, size: Size) -> None:
        self.step.sizes.entries.append(PassNumber(self.prefix, position, size))

    def _sizes_of(self, argument: Argument) -> None:
        value, first = self.bound[id(argument)], argument.first_size
        shape = value.shape
        if argument.kind in ("ring", "mit_mot"):
            self._number(first, shape[0])
        if argument.kind == "untraced":
            self._number(first, 1)
        rows = shape if argument.kind in ("invariant", "untraced") else shape[1:]
        for d, size in enumerate(rows):
            self._number(first + 1 + d, size)

    def _known_size(self, size: Size) -> Size | None:
        """Return a size of the loop's as a size of the caller's, where an argument has it."""
        size = self.loop.step.sizes.find(size)
        if isinstance(size, int):
            return size
        for argument in self.loop.arguments:
            value = self.bound.get(id(argument))
            if value is None:
                continue
            shape = [self.loop.step.sizes.find(one) for one in argument.shape]
            if size in shape:
                rows = 0 if argument.kind in ("invariant", "untraced") else 1
                return value.shape[rows + shape.index(size)]
            if isinstance(value, Scalar) and size == self._number_of(argument):
                number = self.step.settled(value)
                if number is not None:
                    return self.step.size(number, "a size that a loop inside is given")
        return None

    def _number_of(self, argument: Argument) -> Size | None:
        """Return an invariant number as the loop names it."""
        for entry in self.loop.step.sizes.entries:
            if isinstance(entry, NameNumber) and entry.value == Element(argument.name):
                return Name(entry.name)
        return None

    def _show_numbers(self) -> None:
        """Give the plan those arrays that sizes depend on; they must be there already."""
        step, loop = self.step, self.loop
        reach_a_size = loop.step.sizes.names_that_reach_a_size()
        read = loop.step.sizes.names_read()
        for k, argument in enumerate(loop.arguments):
            if argument.kind != "invariant":
                continue
            value, at = self.bound[id(argument)], FIRST_ARRAY + k
            if not (argument.name in reach_a_size or (argument.shape and argument.name in read)):
                if not argument.shape:
                    # it is read, but nothing that the plan returns depends on it
                    step.sizes.entries.append(ShowArray(self.prefix, at))
                continue
            if id(argument) in self.lists:
                kind = value.dtype
                items = self.lists[id(argument)]
                names = tuple(step.sizes.define(kind, item.symbol) for item in items)
                step.sizes.entries.append(ShowList(self.prefix, at, kind, names))
            elif isinstance(value, Scalar) and (known := step.settled(value)) is not None:
                kept = step.sizes.define(known.dtype, known.symbol)
                step.sizes.entries.append(ShowArray(self.prefix, at, number=kept))
            elif isinstance(value, View) and step.invariant(value):
                first = first_element(value, step.sizes)
                step.sizes.entries.append(ShowArray(self.prefix, at, first.array, first.offset))
            else:
                raise CannotLower("a loop whose sizes depend on numbers that are computed before")

    def append(self) -> None:
        step, loop = self.step, self.loop
        first_error = len(step.errors)
        for error in loop.step.errors:
            text = f"{error.text} in the loop {loop.name}"
            inside = error if self.when else StepError(error.kind, text, in_loop=True)
            step.errors.append(inside)
        operands = [
            Scalar("0", argument.dtype, True, literal=0)
            if id(argument) in self.only_sizes
            else self.bound[id(argument)]
            for argument in loop.arguments
        ]
        written = [
            operand.buffer
            for argument, operand in zip(loop.arguments, operands, strict=True)
            if isinstance(operand, View) and argument.kind in WRITTEN_KINDS
        ]
        takes = [self._all_steps(work) for s in loop.step.statements for work in s.nanoseconds()]
        call = CallLoop(
            loop, self.prefix, operands, self.work, first_error, takes, self.steps, self.when
        )
        for buffer in written:
            # the loop writes its rows one after the other, without gaps
            buffer.packed = True
        step.append(call, *written, self.work)

    def _all_steps(self, work: Work) -> Work:
        """Return what takes time in each step, in the caller's sizes; those that it cannot know count as 1."""
        known = [self._known_size(size) for size in work.shape]
        return Work(work.each, (self.steps, *(size for size in known if size is not None)))

    def record_reached_rows(self) -> None:
        for argument in self.of_kind("ring", "trace"):
            value = self.bound[id(argument)]
            assert isinstance(value, View)
            rows, done = value.shape[0], Item(f"{self.prefix}_result", 0)
            left_out = difference(rows, difference(self.steps, done))
            more = compared(rows, ">", sum_of(done, argument.history))
            self.step.rows_reached[value.buffer] = Choice(more, left_out, rows)

    def results(self, *kinds: str) -> list[Value]:
        results: list[Value] = []
        for argument in self.of_kind(*kinds):
            value = self.bound[id(argument)]
            assert isinstance(value, View)
            results.append(value if value.ndim else self.step.load(value))
        return results


def _items_of(value: Value) -> tuple[Scalar, ...]:
    """Return the numbers that a short vector consists of, if these are known one by one."""
    if isinstance(value, IndexVector):
        return value.items
    return (value.scalar,) if isinstance(value, Splat) and value.shape == (1,) else ()


def _front(value: View, shape: tuple[Size, ...]) -> View:
    """Return the first rows of a view."""
    return View(value.buffer, shape, value.axes, value.steps, value.start)
