"""Passes of the native engine know statements by what they say, and run in one visible list."""

from __future__ import annotations

import ast

from tests_scan_grad.fresh_process import ROOT

ENGINE = ROOT / "theano" / "link" / "native"


def classes_of_statements():
    """The names of the kinds of statements."""
    trees = [ast.parse(path.read_text()) for path in (ENGINE / "statements").rglob("*.py")]
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    kinds = {"Statement"}
    while True:
        more = {c.name for c in classes if kinds & {ast.unparse(base) for base in c.bases}}
        if more <= kinds:
            return kinds
        kinds |= more


def instance_checks(source, kinds):
    """The questions of a module whether something is of one of these kinds."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        ast.unparse(call)
        for call in calls
        if ast.unparse(call.func) == "isinstance"
        and kinds & {name.id for name in ast.walk(call.args[1]) if isinstance(name, ast.Name)}
    ]


def test_no_pass_asks_for_the_class_of_a_statement():
    kinds = classes_of_statements()
    assert {"Map", "Gemm", "MapReduce", "RowByRow"} < kinds
    assert instance_checks("isinstance(one, View | Map)", kinds)
    found = {
        path.name: instance_checks(path.read_text(), kinds)
        for path in (ENGINE / "passes").glob("*.py")
    }
    assert not {name: calls for name, calls in found.items() if calls}


def test_the_pipeline_alone_runs_passes():
    pipeline = ast.parse((ENGINE / "passes" / "pipeline.py").read_text())
    (passes,) = (
        node.value
        for node in pipeline.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PASSES"
    )
    names = {ast.unparse(call.args[0]) for call in passes.elts}
    callers = {
        (path.relative_to(ENGINE).as_posix(), name)
        for path in ENGINE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in names
    }
    assert len(names) > 15
    assert not callers
