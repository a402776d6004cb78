"""The order of the package's layers, and the one place where PyTensor's insides are taken."""

import ast
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys

import pytest

from tests_scan_grad.fresh_process import ROOT
from tests_scan_grad.house.imports import imports, syntax
from theano.link.xla.jax_library import import_keeping_settings
from theano.pytensor_internals import INSIDE_PUBLIC_MODULES, PUBLIC

PACKAGE = ROOT / "theano"
BASE = PACKAGE / "pytensor_internals"

# The folder of what only the release of PyTensor for other Pythons needs.
OF_OTHER_RELEASE = "before_3_3" if sys.version_info >= (3, 12) else "since_3_3"

# Private attributes of what is neither PyTensor's nor ours.
# JAX has no public word for whether its devices have been started, which a fork must not do
OF_OTHERS = {
    "_getframe": "sys",
    "_handle": "ctypes",
    "_exit": "os",
    "_backends": "jax",
    "_ARRAY_API": "numpy",
    "_generator": "numpy",
}


@functools.cache
def files():
    """The syntax tree of each file of the package, by its place in it."""
    return {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def outside_base():
    return {path: tree for path, tree in files().items() if BASE not in path.parents}


def is_inside(module, name):
    """Return whether a name in a PyTensor module is one of its internals."""
    if module not in PUBLIC and f"{module}.{name}" not in PUBLIC:
        return True
    if name.startswith("_") and not name.startswith("__"):
        return True
    return name in INSIDE_PUBLIC_MODULES.get(module, ()) or is_module(f"{module}.{name}")


@functools.cache
def is_module(name):
    """Return whether a name is that of a PyTensor module which is not public."""
    if name in PUBLIC or name.endswith("."):
        return False
    parent, _, last = name.rpartition(".")
    known = getattr(sys.modules.get(parent), last, None)
    if known is not None:
        return inspect.ismodule(known)
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def pytensor_names(tree):
    """Each module and name of PyTensor's that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pytensor":
            for alias in node.names:
                yield node.module, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "pytensor":
                    yield alias.name, ""


def test_insides_of_pytensor_are_imported_in_one_place():
    taken = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for path, tree in outside_base().items()
        for module, name in pytensor_names(tree)
        if (is_inside(module, name) if name != "*" and name else module not in PUBLIC)
    ]
    assert taken == []


def test_releases_of_pytensor_are_told_apart_in_one_place():
    asked = ("(3, 12)", "before_3_3", "since_3_3")
    told = {
        str(path.relative_to(ROOT))
        for path in files()
        if BASE not in path.parents
        for text in asked
        if text in path.read_text()
    }
    assert told == set()


def module_name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("folder", ["before_3_3", "since_3_3"])
def test_what_one_release_needs_reads_nothing_of_the_other(folder):
    """Dropping a release is deleting its folder, and the branches that name it."""
    other = {"before_3_3": "since_3_3", "since_3_3": "before_3_3"}[folder]
    inside = sorted((BASE / folder).glob("*.py"))
    assert inside
    for path in inside:
        read = {module for module in imports()[module_name(path)]}
        assert not [module for module in read if other in module], path


def test_modules_of_insides_are_not_reached_through_a_public_one():
    reached = []
    for path, tree in outside_base().items():
        bound = {
            alias.asname or alias.name.split(".")[0]: alias.name if alias.asname else "pytensor"
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name.split(".")[0] == "pytensor"
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                first, *others = ast.unparse(node).split(".")
                if first in bound and all(part.isidentifier() for part in others):
                    module = ".".join([bound[first], *others[:-1]])
                    of_module = module in PUBLIC or is_module(module)
                    if of_module and is_inside(module, others[-1]):
                        reached.append(f"{path.relative_to(ROOT)}: {ast.unparse(node)}")
    assert reached == []


def test_modules_of_insides_are_named_in_one_place():
    """As an argument of `importlib`, say, or as the name of a logger."""
    named = [
        f"{path.relative_to(ROOT)}: {node.value}"
        for path, tree in outside_base().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"pytensor(\.\w+)+", node.value) and is_module(node.value)
    ]
    assert named == []


def private(name):
    return name.startswith("_") and not name.startswith("__")


def defined(tree):
    """The names that a file gives to something: attributes, slots, functions, classes, variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.alias):
            yield node.asname or node.name
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
            yield from ast.literal_eval(node.value)


def attributes(tree):
    """The private attributes that a file uses, also through `getattr` and the like."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr):
            yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
            if isinstance(node.args[1], ast.Constant) and private(node.args[1].value):
                yield node.args[1].value


def test_private_attributes_are_our_own():
    own = {name for tree in outside_base().values() for name in defined(tree)}
    foreign = {
        (str(path.relative_to(ROOT)), name)
        for path, tree in outside_base().items()
        for name in attributes(tree)
        if name not in own | set(OF_OTHERS)
    }
    assert foreign == set()


def own_classes():
    """Each class of the package that derives from one of PyTensor's, outside `pytensor_internals`."""
    for found in pkgutil.walk_packages([str(PACKAGE)], "theano."):
        # neither what needs a device or an extra, nor the C runtime, which is no module of Python
        others = ("cudnn", "gpuarray.tests.", ".runtime-", "theano.pymc", OF_OTHER_RELEASE)
        if not any(part in found.name for part in others):
            import_keeping_settings(found.name)
    for name, module in sorted(sys.modules.items()):
        if name.startswith("theano.") and not name.startswith("theano.pytensor_internals"):
            for kind in vars(module).values():
                if inspect.isclass(kind) and kind.__module__ == name:
                    if any(base.__module__.startswith("pytensor") for base in kind.__mro__):
                        yield kind


@functools.cache
def classes_in(module):
    """The syntax tree of each class of a module, by its name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


@functools.cache
def private_names(kind):
    """The private names that the source of a class defines or sets on itself."""
    tree = classes_in(kind.__module__).get(kind.__name__)
    names = vars(kind) if tree is None else defined(tree)
    return frozenset(filter(private, names)) - {"_"}


def test_private_names_of_base_classes_are_left_alone():
    touched = {
        f"{kind.__module__}.{kind.__qualname__}.{name}"
        for kind in own_classes()
        for base in kind.__mro__[1:]
        if base.__module__.startswith("pytensor")
        for name in private_names(kind) & private_names(base)
    }
    assert touched == set()


@functools.cache
def names_imported():
    """Each name that is imported anywhere in the package, with the module it comes from."""
    return {
        (node.module, alias.name)
        for tree in files().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def attributes_of(name):
    """The attributes that are read in files which import a module of `pytensor_internals` as a whole."""
    package = "theano.pytensor_internals"
    return {
        node.attr
        for module, tree in syntax().items()
        if name in imports()[module] and not module.startswith(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }


OF_ONE_RELEASE = {BASE / folder for folder in ("before_3_3", "since_3_3")}
OF_EVERY_RELEASE = [
    path for path in sorted(BASE.rglob("*.py")) if path.parent not in OF_ONE_RELEASE
]


@pytest.mark.parametrize("path", OF_EVERY_RELEASE, ids=module_name)
def test_names_of_pytensor_internals_exist_and_are_used(path):
    name = module_name(path)
    module = import_keeping_settings(name)
    assert module.__doc__
    imported = names_imported()
    offered = {
        alias.asname or alias.name
        for node in files()[path].body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (node.module or "").startswith("pytensor.") and is_inside(node.module, alias.name)
    } | {
        node.name
        for node in files()[path].body
        # the module's own __getattr__ is nobody's name
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__")
    }
    attributes_used = attributes_of(name)
    own = {ast.unparse(node) for node in ast.walk(files()[path]) if isinstance(node, ast.Name)}
    unused = {name for name in offered if (module_name(path), name) not in imported}
    assert unused - attributes_used - own == set()
