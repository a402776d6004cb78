"""A copy of a project's tests, adapted so that they can be run here.

Names of an ancestor of PyTensor's become PyTensor's. After each import of something of PyTensor's,
on the same line so that line numbers stay, the name is bound again to what ``pytensor_names.ours``
returns for it. PyTensor itself is left as it is.
"""

import ast
import re
import shutil
from collections.abc import Callable
from pathlib import Path

BINDER = "from tests_scan_grad.upstream.pytensor_names import ours as _ours"

STAND_INS = Path(__file__).parent / "stand_ins"

# What an ancestor has and PyTensor has elsewhere: old module and name -> module of today
MOVED = {
    "pytensor.compile.debugmode.DebugMode": "pytensor.compile.debug.debugmode",
    "pytensor.compile.debugmode.str_diagnostic": "pytensor.compile.debug.debugmode",
    "pytensor.compile.function.function": "pytensor.compile.maker",
    "pytensor.compile.function.pfunc.rebuild_collect_shared": "pytensor.compile.rebuild",
    "pytensor.compile.mode.FAST_RUN": "theano.compile.mode",
    "pytensor.compile.monitormode.MonitorMode": "pytensor.compile.debug.monitormode",
    "pytensor.graph.basic.clone_replace": "pytensor.graph.replace",
    "pytensor.misc.safe_asarray._asarray": "theano.misc.safe_asarray",
}


def write_adapted_copy(source: Path, target: Path, ancestor: str | None, to_ours: bool) -> None:
    """Copy a folder of tests, adapted to be run here.

    Parameters
    ----------
    source, target
        The folder to read and the folder to write.
    ancestor
        The name of PyTensor's ancestor that the tests import, which becomes ``pytensor``.
    to_ours
        Whether to bind PyTensor's names in the tests to ours.
    """
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    for path in STAND_INS.glob("*.py"):
        if not (target / "tests" / path.name).exists():
            shutil.copy(path, target / "tests")
    (target / "tests" / "__init__.py").touch()
    for path in target.rglob("*.py"):
        text = path.read_text()
        if ancestor is not None:
            text = renamed(text, ancestor)
        path.write_text(adapted(text) if to_ours else text)


def renamed(text: str, ancestor: str) -> str:
    """The source of a module with an ancestor's names replaced by PyTensor's."""
    return _edited(re.sub(rf"\b{ancestor}\b", "pytensor", text), _import_from_where_it_is)


def adapted(text: str) -> str:
    """The source of a module with each name of PyTensor's bound to ours after its import."""
    return _edited(text, _bind_to_ours)


def _edited(text: str, edit: Callable[[ast.stmt, str], str | None]) -> str:
    """The source with each import replaced by what ``edit`` makes of it, lines kept in place."""
    # positions in a syntax tree count bytes
    lines = text.encode().split(b"\n")
    imports = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
    # from the end, so that earlier positions stay valid
    for node in sorted(imports, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        first, last = node.lineno - 1, node.end_lineno - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        whole = b"\n".join([*lines[first:last], lines[last][: node.end_col_offset]])
        new = edit(node, whole[node.col_offset :].decode())
        if new is not None:
            new_lines = (before + new.encode() + after).split(b"\n")
            padding = [b""] * (last - first + 1 - len(new_lines))
            lines[first : last + 1] = new_lines + padding
    return b"\n".join(lines).decode()


def _bind_to_ours(node: ast.Import | ast.ImportFrom, source: str) -> str | None:
    if isinstance(node, ast.ImportFrom):
        names = [a.asname or a.name for a in node.names if _is_pytensor(node.module)]
    else:
        names = [
            alias.asname or alias.name.partition(".")[0]
            for alias in node.names
            if _is_pytensor(alias.name)
        ]
    if not names:
        return None
    return "; ".join([source, BINDER, *(f"{name} = _ours({name})" for name in names)])


def _import_from_where_it_is(node: ast.Import | ast.ImportFrom, source: str) -> str | None:
    if not isinstance(node, ast.ImportFrom):
        return None
    homes = [MOVED.get(f"{node.module}.{alias.name}", node.module) for alias in node.names]
    if all(home == node.module for home in homes):
        return None
    return "; ".join(
        f"from {home} import {alias.name} as {alias.asname or alias.name}"
        for home, alias in zip(homes, node.names, strict=True)
    )


def _is_pytensor(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == "pytensor"
