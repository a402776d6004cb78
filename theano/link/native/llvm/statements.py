"""C's statements: blocks, variables, conditions and loops."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.c_types import TRUTH, VOID, CType, array_of
from theano.link.native.llvm.declarations import Typedef
from theano.link.native.llvm.expressions import Operand
from theano.link.native.llvm.initializers import Initializers
from theano.link.native.llvm.values import Value

STEPS_NOT_WORTH_VECTORS = 4
_UNROLL = re.compile(r"GCC unroll (\d+)")


class Statements(Initializers):
    """The statements of a function.

    Attributes
    ----------
    returns
        The type of what the function returns.
    changed
        Names that may be given a value after they are declared, or whose address is taken.
    has_labels
        Whether a jump may go past declarations.
    metadata
        What loops are marked with, in LLVM's text.
    """

    returns: CType
    changed: set[str]
    has_labels: bool

    def __init__(self, tokens: list[str]):
        super().__init__(tokens)
        self.breaks: list[str] = []
        self.continues: list[str] = []
        self.cases: list[list[tuple[str, str]]] = []
        self.metadata: list[str] = []
        self._labels: dict[str, str] = {}

    # ---- blocks ----

    def block_of_statements(self) -> None:
        """Write a block, whose opening brace has been read."""
        self.scopes.append({})
        while not self.accept("}"):
            self.statement()
        self.scopes.pop()

    def statement(self) -> None:
        """Write the statement that comes next."""
        token = self.token
        known = _STATEMENTS.get(token)
        if known is not None:
            self.at += 1
            known(self)
        elif self.tokens[self.at + 1] == ":" and token.isidentifier():
            self.at += 2
            self.begin(self._label(token))
        elif self.begins_type():
            self.declaration()
        else:
            self.expression()
            self.expect(";")

    def statement_expression(self) -> Operand:
        self.expect("{")
        self.scopes.append({})
        result: Operand = Value(VOID, "")
        while not self.accept("}"):
            if self.token in _STATEMENTS or self.begins_type():
                self.statement()
                continue
            result = self.expression()
            self.expect(";")
        if result.type is not VOID:
            result = self.value(result)
        self.scopes.pop()
        self.expect(")")
        return result

    def _label(self, name: str) -> str:
        return self._labels.setdefault(name, self.name(name))

    # ---- variables ----

    def declaration(self) -> None:
        """Write the declarations that come next."""
        given = self.specifiers()
        words = given.words
        if self.accept(";"):
            return
        while True:
            found = dict(words)
            name, kind = self.declarator(given.kind or VOID)
            kind = self.attributed(kind, found)
            if "typedef" in words:
                self.define_type(name, kind)
            elif kind.kind == "function":
                self.declare_function(name, kind)
            else:
                self._variable(name, kind, given.kind is None, found)
            if not self.accept(","):
                break
        self.expect(";")

    def define_type(self, name: str, kind: CType) -> None:
        """Give a type a name."""
        self.scopes[-1][name] = Typedef(kind)

    def declare_function(self, name: str, kind: CType) -> None:
        """Know a function that is defined elsewhere."""
        raise NotImplementedError

    def _variable(self, name: str, kind: CType, auto: bool, words: dict[str, Any]) -> None:
        scope = self.scopes[-1]
        if not self.accept("="):
            scope[name] = self.variable(kind, name, words.get("aligned", 0))
            return
        if "static" in words:
            self.is_constant = "const" in words
            scope[name] = self.table(kind, name, words.get("aligned", 0))
            return
        in_register = (auto or kind.in_register) and self.token != "{"
        if in_register or kind.kind == "vector":
            value = self.value(self.compound(kind) if self.token == "{" else self.assignment())
            if auto:
                kind = value.type if value.type is not TRUTH else self.promoted(value).type
            value = self.converted(value, kind)
            if name in self.changed or self.has_labels:
                place = self.variable(kind, name)
                self.store(value, place)
                scope[name] = place
            else:
                scope[name] = Value(kind, value.text, value.constant)
            return
        if kind.kind == "array" and kind.count < 0:
            kind = array_of(kind.element, self._numbers_in_braces_at())
        place = self.variable(kind, name, words.get("aligned", 0))
        scope[name] = place
        self.fill(place, kind)

    # ---- conditions ----

    def _if(self) -> None:
        self.expect("(")
        truth = self.truth(self.expression())
        self.expect(")")
        yes, no = self.name("then"), self.name("else")
        self.branch(truth, yes, no)
        self.begin(yes)
        self.statement()
        if self.accept("else"):
            after = self.name("after")
            self.jump(after)
            self.begin(no)
            self.statement()
            self.begin(after)
        else:
            self.begin(no)

    def _switch(self) -> None:
        self.expect("(")
        number = self.promoted(self.value(self.expression()))
        self.expect(")")
        after = self.name("after")
        before, self.lines, start = self.lines, [], self.block
        was_ended, self.ended = self.ended, True
        self.breaks.append(after)
        self.cases.append([])
        self.statement()
        self.breaks.pop()
        inside, cases, last, ended = self.lines, self.cases.pop(), self.block, self.ended
        self.lines, self.block, self.ended = before, start, was_ended
        others = next((label for case, label in cases if not case), after)
        listed = " ".join(f"{number.type.llvm} {case}, label %{to}" for case, to in cases if case)
        self.end(f"switch {number.typed}, label %{others} [ {listed} ]")
        self.lines, self.block, self.ended = [*self.lines, *inside], last, ended
        self.begin(after)

    def _case(self) -> None:
        number = str(self.known_integer())
        self._in_case(number)

    def _in_case(self, number: str) -> None:
        self.expect(":")
        label = self.name("case")
        self.cases[-1].append((number, label))
        self.begin(label)

    # ---- loops ----

    def _for(self, mark: str = "") -> None:
        self.scopes.append({})
        self.expect("(")
        if self.begins_type():
            self.declaration()
        elif not self.accept(";"):
            self.expression()
            self.expect(";")
        test, body, step, after = (self.name(n) for n in ("test", "body", "step", "after"))
        self.begin(test)
        if not self.accept(";"):
            truth = self.truth(self.expression())
            self.expect(";")
            self.branch(truth, body, after)
        self.begin(body)
        forward = self.at
        self._skip_to_end()
        self._loop_body(step, after)
        end = self.at
        self.begin(step)
        self.at = forward
        if self.token != ")":
            self.expression()
        self.at = end
        self.end(f"br label %{test}{mark}")
        self.scopes.pop()
        self.begin(after)

    def _skip_to_end(self) -> None:
        """Go past the closing parenthesis."""
        depth = 0
        while depth or self.token != ")":
            token = self.take()
            depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        self.at += 1

    def _loop_body(self, step: str, after: str) -> None:
        self.continues.append(step)
        self.breaks.append(after)
        self.statement()
        self.continues.pop()
        self.breaks.pop()

    def _while(self) -> None:
        test, body, after = (self.name(n) for n in ("test", "body", "after"))
        self.begin(test)
        self.expect("(")
        truth = self.truth(self.expression())
        self.expect(")")
        self.branch(truth, body, after)
        self.begin(body)
        self._loop_body(test, after)
        self.jump(test)
        self.begin(after)

    def _do(self) -> None:
        body, test, after = (self.name(n) for n in ("body", "test", "after"))
        self.begin(body)
        self._loop_body(test, after)
        self.begin(test)
        self.expect("while")
        self.expect("(")
        truth = self.truth(self.expression())
        self.expect(")")
        self.expect(";")
        self.branch(truth, body, after)
        self.begin(after)

    def _pragma(self) -> None:
        """Mark the loop that comes next."""
        self.expect("(")
        text = self.take().strip('"')
        self.expect(")")
        if self.token == "_Pragma":
            self.statement()
            return
        unrolled = _UNROLL.search(text)
        number = len(self.metadata)
        if self.token != "for" or (not unrolled and self._is_short()):
            self.statement()
            return
        self.at += 1
        if unrolled:
            self.metadata.append(
                f'distinct !{{!@{number}, !{{!"llvm.loop.unroll.count", i32 {unrolled[1]}}}}}'
            )
            self._for(f", !llvm.loop !@{number}")
            return
        kept, self.group = self.group, f"!@{number + 1}"
        self.metadata.append(
            f'distinct !{{!@{number}, !{{!"llvm.loop.parallel_accesses", !@{number + 1}}}}}'
        )
        self.metadata.append("distinct !{}")
        self._for(f", !llvm.loop !@{number}")
        self.group = kept

    def _is_short(self) -> bool:
        """Return whether a loop is of so few steps that vectors would gain nothing."""
        head = self.tokens[self.at : self.tokens.index(")", self.at)]
        end = head[head.index("<") + 1] if "<" in head else ""
        return end.isdigit() and int(end) <= STEPS_NOT_WORTH_VECTORS

    # ---- jumps ----

    def _return(self) -> None:
        if self.accept(";"):
            self.end("ret void")
            return
        value = self.converted(self.value(self.expression()), self.returns)
        self.expect(";")
        self.end(f"ret {value.typed}")

    def _break(self) -> None:
        self.expect(";")
        self.jump(self.breaks[-1])

    def _continue(self) -> None:
        self.expect(";")
        self.jump(self.continues[-1])

    def _goto(self) -> None:
        label = self._label(self.take())
        self.expect(";")
        self.jump(label)

    def _assembly(self) -> None:
        """Leave out what keeps a C compiler from fusing operations, which LLVM does not do."""
        self.skip_group()
        self.expect(";")

    def _nothing(self) -> None:
        """Write an empty statement."""


def _default(body: Statements) -> None:
    body._in_case("")


def _refused(body: Statements) -> None:
    raise CannotLower("C that LLVM's renderer does not know: the beginning of a statement")


_STATEMENTS: dict[str, Callable[[Statements], None]] = {
    "{": Statements.block_of_statements,
    "if": Statements._if,
    "switch": Statements._switch,
    "case": Statements._case,
    "default": _default,
    "for": Statements._for,
    "while": Statements._while,
    "do": Statements._do,
    "_Pragma": Statements._pragma,
    "return": Statements._return,
    "break": Statements._break,
    "continue": Statements._continue,
    "goto": Statements._goto,
    "__asm__": Statements._assembly,
    ";": Statements._nothing,
    ")": _refused,
}
