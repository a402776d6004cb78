"""Imports between the package's modules, read from the files: those inside functions, too."""

import ast
import functools
import importlib.util
from collections.abc import Callable, Iterable, Iterator

from tests_scan_grad.fresh_process import ROOT

PACKAGE = ROOT / "theano"

# What imports the module that its argument names.
LOADERS = ("import_module", "import_keeping_settings")

# What loads modules by names that are computed: those of tables that are read below, and JAX's.
LOADING_BY_TABLE = {
    "theano.support.lazy_names",
    "theano.link.native.lowering.places",
    "theano.link.native.render.places",
    "theano.link.native.schedule.places",
    "theano.link.xla.jax_library",
}

# The tables, and which modules they import: lazy names of packages, lowerings, and how
# kinds of statements are written. A name of a
# module of the package itself is an address: who asks for it imports the module.
TABLES: dict[str, Callable[[dict], Iterable[str]]] = {
    "_LAZY": lambda table: (place for name, place in table.items() if place != f".{name}"),
    "KINDS_OF": lambda table: table.keys(),
    "OPERATORS_OF": lambda table: table.keys(),
}


@functools.cache
def syntax() -> dict:
    """The syntax tree of each module of the package, by its name."""
    return {_name(path): ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def _name(path) -> str:
    *folders, file = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(folders if file == "__init__" else [*folders, file])


def _is_package(module: str) -> bool:
    return ROOT.joinpath(*module.split("."), "__init__.py").exists()


def _only_for_types(tree) -> set[int]:
    """Return the ids of the nodes under ``if TYPE_CHECKING``, none of which a program ever runs."""
    return {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for inside in ast.walk(statement)
    }


def _imported(module: str, tree) -> Iterator[str]:
    modules = syntax()
    aside = _only_for_types(tree)
    for node in ast.walk(tree):
        if id(node) in aside:
            continue
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in TABLES:
            places = TABLES[ast.unparse(node.targets[0])](ast.literal_eval(node.value))
            package = module if _is_package(module) else module.rpartition(".")[0]
            yield from (importlib.util.resolve_name(place, package) for place in places)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: a relative import"
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in modules else node.module or ""
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(LOADERS):
            name = node.args[0]
            if isinstance(name, ast.Constant):
                yield name.value
            else:
                assert module in LOADING_BY_TABLE, f"{module}: {ast.unparse(node)}"


@functools.cache
def imports() -> dict[str, frozenset[str]]:
    """The modules of the package that each of its modules imports.

    ``from package import module`` imports the module, not the package; that Python runs the
    ``__init__`` of each package on the way does not count.
    """
    return {
        module: frozenset(name for name in _imported(module, tree) if name in syntax()) - {module}
        for module, tree in syntax().items()
    }


def circles(graph: dict[str, frozenset[str]]) -> list[list[str]]:
    """The groups of modules that import each other, directly or through others."""
    before = {module: reached(graph, module) for module in graph}
    groups = {
        tuple(sorted(other for other in before[module] if module in before[other]))
        for module in graph
        if module in before[module]
    }
    return [list(group) for group in sorted(groups)]


def reached(graph: dict[str, frozenset[str]], module: str) -> set[str]:
    """Return the modules that a module imports, directly or through others."""
    found: set[str] = set()
    left = [module]
    while left:
        for other in graph[left.pop()]:
            if other not in found:
                found.add(other)
                left.append(other)
    return found
