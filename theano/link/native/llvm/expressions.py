"""C's expressions, as instructions."""

from __future__ import annotations

from collections.abc import Callable

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.builtins import builtin
from theano.link.native.llvm.c_types import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TRUTH,
    UNSIGNED,
    UNSIGNED_LONG,
    VOID,
    CType,
    function_type,
    pointer_to,
)
from theano.link.native.llvm.declarations import Declarations, Typedef
from theano.link.native.llvm.operators import common_type
from theano.link.native.llvm.values import Lane, Place, Value, integer, real, zero

Operand = Value | Place | Lane

# operator -> how tightly it binds
_BINDS: dict[str, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_ASSIGNS = {
    "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "&=": "&", "|=": "|", "^=": "^",
    "<<=": "<<", ">>=": ">>",
}  # fmt: skip
_MOVES = {"++": "+", "--": "-"}


class Expressions(Declarations):
    """The expressions of a function."""

    def expression(self) -> Operand:
        found = self.assignment()
        while self.accept(","):
            found = self.assignment()
        return found

    def assignment(self) -> Operand:
        left = self._choice()
        sign = self.token
        if sign == "=":
            self.at += 1
            return self.assigned(left, self.assignment())
        if sign in _ASSIGNS:
            self.at += 1
            right = self.value(self.assignment())
            before = self.value(left)
            result = self.converted(self.binary(_ASSIGNS[sign], before, right), left.type)
            self.assign(left, result)
            return result
        return left

    def assigned(self, left: Operand, right: Operand) -> Operand:
        """Put an operand where another one is."""
        if left.type.kind == "structure":
            assert isinstance(left, Place) and isinstance(right, Place)
            self.copy(left.pointer, right.pointer, left.type.size)
            return left
        value = self.converted(self.value(right), left.type)
        self.assign(left, value)
        return value

    # ---- choices ----

    def _choice(self) -> Operand:
        condition = self._operators(1)
        if self.token != "?":
            return condition
        self.at += 1
        truth = self.truth(condition)
        self.reach()
        plain = self.is_plain
        before, yes, no, after = self.lines, *(self.name(n) for n in ("yes", "no", "chosen"))
        start, was_ended = self.block, self.ended
        first, first_lines, first_end, first_plain = self._apart(yes, self.expression)
        self.expect(":")
        second, second_lines, second_end, second_plain = self._apart(no, self._choice)
        kind = _chosen_type(first, second)
        self.lines, self.block, self.ended = before, start, was_ended
        if truth.constant is not None and first_plain and second_plain:
            chosen, lines = (first, first_lines) if truth.constant else (second, second_lines)
            self.lines += lines[1:]
            self.is_plain = plain
            return self.converted(chosen, kind)
        if first_plain and second_plain and len(first_lines) + len(second_lines) < 9:
            self.lines += first_lines[1:] + second_lines[1:]
            one, other = self.converted(first, kind), self.converted(second, kind)
            self.is_plain = plain
            return self.emit(f"select {truth.typed}, {one.typed}, {other.typed}", kind)
        self.branch(truth, yes, no)
        ends = []
        for value, lines, end in (
            (first, first_lines, first_end),
            (second, second_lines, second_end),
        ):
            self.lines, self.block, self.ended = [*self.lines, *lines], end, False
            value = value if kind is VOID else self.converted(value, kind)
            ends.append(f"[ {value.text}, %{self.block} ]")
            self.jump(after)
        self.begin(after)
        if kind is VOID:
            return Value(VOID, "")
        return self.emit(f"phi {kind.llvm} {', '.join(ends)}", kind)

    def _apart(
        self, block: str, parse: Callable[[], Operand]
    ) -> tuple[Value, list[str], str, bool]:
        """Return a value, and the lines that compute it in a separate block."""
        self.lines, self.block, self.ended, self.is_plain = [f"{block}:"], block, False, True
        operand = parse()
        value = operand if isinstance(operand, Value) else self.value(operand)
        return value, self.lines, self.block, self.is_plain

    def _operators(self, least: int) -> Operand:
        left = self._unary()
        while True:
            sign = self.token
            binds = _BINDS.get(sign, 0)
            if binds < least or not binds:
                return left
            self.at += 1
            if sign in ("&&", "||"):
                left = self._joined(sign, self.truth(left), binds + 1)
                continue
            first = self.value(left)
            left = self.binary(sign, first, self.value(self._operators(binds + 1)))

    def _joined(self, sign: str, first: Value, binds: int) -> Value:
        """Return whether both or one holds; the second is found out where it matters."""
        self.reach()
        before, start, plain, was_ended = self.lines, self.block, self.is_plain, self.ended
        other, after = self.name("second"), self.name("joined")
        second, lines, end, is_plain = self._apart(
            other, lambda: self.truth(self._operators(binds))
        )
        self.lines, self.block, self.ended = before, start, was_ended
        decided = integer(TRUTH, sign == "||")
        if is_plain:
            self.lines += lines[1:]
            self.is_plain = plain
            one, two = (decided, second) if sign == "||" else (second, decided)
            return self.emit(f"select {first.typed}, {one.typed}, {two.typed}", TRUTH)
        came_from = self.block
        self.branch(first, *((after, other) if sign == "||" else (other, after)))
        self.lines, self.block, self.ended = [*self.lines, *lines], end, False
        self.jump(after)
        self.begin(after)
        return self.emit(
            f"phi i1 [ {decided.text}, %{came_from} ], [ {second.text}, %{end} ]", TRUTH
        )

    # ---- one operand ----

    def _unary(self) -> Operand:
        token = self.take()
        prefix = _PREFIXES.get(token)
        if prefix is not None:
            return prefix(self)
        if token == "(" and self.begins_type():
            return self._after(self._cast())
        self.at -= 1
        return self._after(self._primary())

    def _cast(self) -> Operand:
        kind = self.type_name()
        self.expect(")")
        if self.token == "{":
            return self.compound(kind)
        operand = self._unary()
        if kind is VOID:
            return Value(VOID, "")
        return self.converted(self.value(operand), kind)

    def compound(self, kind: CType) -> Operand:
        """Return a literal in braces."""
        raise NotImplementedError

    def statement_expression(self) -> Operand:
        """Return what a block in parentheses gives."""
        raise NotImplementedError

    def _size(self) -> Value:
        if self.token == "(" and self._type_follows():
            self.at += 1
            kind = self.type_name()
            self.expect(")")
            if self.token == "{":
                # of a literal, whose length only its numbers say
                count, self.at = self._numbers_in_braces(), self.at
                return integer(UNSIGNED_LONG, kind.element.size * count)
        else:
            kept = self.lines, self.variables, self.block, self.ended, self.is_plain
            self.lines, self.variables, self.ended = [], [], False
            kind = self._unary().type
            self.lines, self.variables, self.block, self.ended, self.is_plain = kept
            kind = INT if kind is TRUTH else kind
        return integer(UNSIGNED_LONG, kind.size)

    def _numbers_in_braces(self) -> int:
        start = self.at
        self.skip_group()
        depth, count = 0, 1
        inside = self.tokens[start : self.at]
        for token in inside:
            depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
            count += token == "," and depth == 1
        return count - (inside[-2] == ",")

    def _type_follows(self) -> bool:
        self.at += 1
        found = self.begins_type()
        self.at -= 1
        return found

    def _address(self) -> Value:
        operand = self._unary()
        if not isinstance(operand, Place):
            raise CannotLower("the address of what is no place in memory")
        return Value(pointer_to(operand.type), operand.pointer)

    def _pointed_at(self) -> Operand:
        return self.pointed_at(self.value(self._unary()))

    def pointed_at(self, pointer: Value) -> Place:
        """Return where a pointer points."""
        if pointer.type.kind != "pointer":
            raise CannotLower(f"what {pointer.type} points to")
        return Place(pointer.type.element, pointer.text)

    def _moved_first(self, sign: str) -> Operand:
        operand = self._unary()
        moved = self._moved(sign, operand, self.value(operand))
        return moved

    def _moved(self, sign: str, operand: Operand, before: Value) -> Value:
        one = integer(INT, 1)
        moved = self.converted(self.binary(_MOVES[sign], before, one), operand.type)
        self.assign(operand, moved)
        return moved

    # ---- what follows an operand ----

    def _after(self, operand: Operand) -> Operand:
        while True:
            token = self.token
            if token == "[":
                self.at += 1
                operand = self._item(operand, self.value(self.expression()))
                self.expect("]")
            elif token == "(":
                self.at += 1
                operand = self._called(operand, self._arguments())
            elif token in (".", "->"):
                self.at += 1
                operand = self._field(operand, token == "->", self.take())
            elif token in _MOVES:
                self.at += 1
                before = self.value(operand)
                self._moved(token, operand, before)
                operand = before
            else:
                return operand

    def _item(self, operand: Operand, index: Value) -> Operand:
        if operand.type.kind == "vector":
            assert not isinstance(operand, Lane)
            return Lane(operand, self.promoted(index))
        kind = operand.type.element
        if operand.type.kind == "array":
            assert isinstance(operand, Place)
            place = self.element(kind, operand.pointer, self.promoted(index))
            return Place(kind, place, operand.local)
        pointer = self.value(operand)
        if pointer.type.kind != "pointer":
            raise CannotLower(f"an element of {pointer.type}")
        return Place(kind, self.element(kind, pointer.text, self.promoted(index)))

    def _field(self, operand: Operand, by_pointer: bool, name: str) -> Place:
        place = self.pointed_at(self.value(operand)) if by_pointer else operand
        assert isinstance(place, Place)
        kind, offset = place.type.fields[name]
        return Place(kind, self.beyond(place.pointer, offset), place.local)

    def _arguments(self) -> list[Operand]:
        found: list[Operand] = []
        while not self.accept(")"):
            found.append(self.value(self.assignment()))
            self.accept(",")
        return found

    def _called(self, operand: Operand, arguments: list[Operand]) -> Value:
        kind = operand.type
        if kind.kind == "function":
            assert isinstance(operand, Place)
            pointer = operand.pointer
        else:
            pointer, kind = self.value(operand).text, kind.element
        given = [
            self.converted(self.value(one), to)
            for one, to in zip(arguments, kind.parameters, strict=True)
        ]
        listed = ", ".join(_passed(one) for one in given)
        returns = kind.element
        mark = f", !llvm.access.group {self.group}" if self.group else ""
        called = f"call {_returned(returns)} {pointer}({listed}){mark}"
        self.is_plain = False
        if returns is VOID:
            self.do(called)
            return Value(VOID, "")
        return self.emit(called, returns)

    # ---- the innermost ----

    def _primary(self) -> Operand:
        token = self.take()
        first = token[0]
        if token == "(":
            if self.token == "{":
                return self.statement_expression()
            operand = self.expression()
            self.expect(")")
            return operand
        if first.isdigit() or (first == "." and len(token) > 1):
            return _number(token)
        if first == '"':
            return Value(pointer_to(CHAR), "null", 0)
        if token == "__extension__":
            return self._unary()
        if token.startswith("__builtin_") and self.token == "(":
            return self._builtin(token)
        meaning = self.meaning(token)
        if meaning is None or isinstance(meaning, Typedef):
            raise CannotLower(f"C that LLVM's renderer does not know: the name {token}")
        return meaning

    def _builtin(self, name: str) -> Operand:
        self.expect("(")
        if name == "__builtin_convertvector":
            vector = self.value(self.assignment())
            self.expect(",")
            to = self.type_name()
            self.expect(")")
            element = self._of_elements(vector, to)
            return element
        return builtin(self, name, [self.value(one) for one in self._arguments()])

    def _of_elements(self, vector: Value, to: CType) -> Value:
        """Return a vector of the converted elements."""
        a, b = vector.type.element, to.element
        if a.llvm == b.llvm:
            return Value(to, vector.text)
        integers = a.kind == b.kind == "integer"
        if integers:
            how = "trunc" if b.size < a.size else "sext" if a.signed else "zext"
        elif a.kind == "integer":
            how = "sitofp" if a.signed else "uitofp"
        elif b.kind == "integer":
            how = "fptosi" if b.signed else "fptoui"
        else:
            how = "fptrunc" if b.size < a.size else "fpext"
        return self.emit(f"{how} {vector.typed} to {to.llvm}", to)


_PREFIXES: dict[str, Callable[[Expressions], Operand]] = {
    "-": lambda body: body.negative(body.value(body._unary())),
    "+": lambda body: body.promoted(body.value(body._unary())),
    "~": lambda body: body.inverted(body.value(body._unary())),
    "!": lambda body: body.opposite(body.truth(body._unary())),
    "*": Expressions._pointed_at,
    "&": Expressions._address,
    "++": lambda body: body._moved_first("++"),
    "--": lambda body: body._moved_first("--"),
    "sizeof": Expressions._size,
    "__extension__": Expressions._unary,
}


def _passed(value: Value) -> str:
    """Return an argument; what is less than a register is widened as C's conventions say."""
    kind = value.type
    if kind.kind == "integer" and kind.size < 4:
        return f"{kind.llvm} {'signext' if kind.signed else 'zeroext'} {value.text}"
    return value.typed


def _returned(kind: CType) -> str:
    if kind.kind == "integer" and kind.size < 4:
        return f"{'signext' if kind.signed else 'zeroext'} {kind.llvm}"
    return kind.llvm


def _chosen_type(a: Value, b: Value) -> CType:
    if a.type is b.type:
        return a.type
    if a.type.kind == "pointer" or b.type.kind == "pointer":
        return a.type if a.type.kind == "pointer" else b.type
    if VOID in (a.type, b.type):
        return VOID
    if a.type.kind == "vector":
        return a.type
    return common_type(a.type, b.type)


def _number(token: str) -> Value:
    """Return a literal."""
    text = token.lower()
    is_hex = text.startswith("0x")
    if "." in text or ("p" in text if is_hex else "e" in text):
        single = text[-1] == "f"
        digits = text.rstrip("fl")
        number = float.fromhex(digits) if is_hex else float(digits)
        return real(FLOAT if single else DOUBLE, number)
    digits = text.rstrip("ul")
    suffix = text[len(digits) :]
    whole = int(digits, 16 if is_hex else 10)
    kinds = [UNSIGNED, UNSIGNED_LONG] if "u" in suffix else [INT, LONG]
    if "l" in suffix:
        kinds = kinds[1:]
    elif is_hex and "u" not in suffix:
        kinds = [INT, UNSIGNED, LONG, UNSIGNED_LONG]
    for kind in kinds:
        if whole < 1 << (kind.size * 8 - kind.signed):
            return integer(kind, whole)
    return integer(UNSIGNED_LONG, whole)


__all__ = ["Expressions", "Operand", "function_type", "zero"]
