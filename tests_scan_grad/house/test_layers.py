"""The order of the package's layers: no module imports one of a higher layer, and none in a circle."""

import pytest

from tests_scan_grad.house.imports import circles, imports

# From the lowest to the highest: what a layer is for, and its modules and packages. The longest
# name that fits a module says its layer.
LAYERS = [
    ("PyTensor's insides, and classes of data", "support.data_classes pytensor_internals"),
    (
        "flags, and small things that know no graph",
        """compat configdefaults configparser flags derivatives.arguments derivatives.lines misc
        source_locations support updates version""",
    ),
    (
        "graphs: names of their parts, rewriters, values for tests, how they are printed",
        "gof scalar printing.names printing.vector_products raise_op",
    ),
    ("which rewrites run, and how", "rewriting"),
    (
        "operations of ours that loops, engines and rewrites know",
        """compile.rebroadcast tensor.constants tensor.largest_elements tensor.nnet.rows.row_operator tensor.nnet.rows.softmax_operators
        tensor.nnet.correlation tensor.nnet.ctc_operator tensor.nnet.neighbours_operators
        tensor.signal.pooling
        sandbox.mrg31k3p sandbox.mrg_truncated sandbox.mrg_uniform sandbox.multinomial
        tensor.numpy_samplers.random_function tensor.numpy_samplers.random_samplers
        tensor.numpy_samplers.random_state_words tensor.numpy_samplers.generator_samples
        tensor.numpy_samplers.generator_words tensor.numpy_samplers.ufunc_loops tensor.linear_algebra.solved_systems""",
    ),
    ("loops", "scan_module"),
    ("engines", "link"),
    ("functions, modes and shared variables", "compile printing"),
    (
        "Theano's names of operations, and derivatives",
        "derivatives gradient ifelse sandbox sparse tensor",
    ),
    (
        "what is built on all of them",
        "all_rewrites commands d3viz gpuarray profile pymc tests typed_list",
    ),
    ("names of loops that need functions", "scan_module.map_variables scan_module.scan_utils"),
    ("the public names", ""),
]

# Imports against the order, and why each is there. The test fails when one is needed no more.
AGAINST_THE_ORDER: dict[tuple[str, str], str] = {}

# Groups of modules that import each other, and why. There are none.
CIRCLES: dict[tuple[str, ...], str] = {}


def layer_of(module: str) -> int:
    """The place of a module's layer."""
    best, place = "", len(LAYERS) - 1
    for number, (_, names) in enumerate(LAYERS):
        for name in names.split():
            whole = f"theano.{name}"
            if (module == whole or module.startswith(f"{whole}.")) and len(whole) > len(best):
                best, place = whole, number
    assert best or module == "theano", f"{module} is in no layer"
    return place


def test_no_modules_import_each_other():
    found = {tuple(group) for group in circles(imports())}
    assert found == set(CIRCLES)


def test_each_module_imports_from_its_layer_and_those_below():
    upward = {
        (module, other)
        for module, others in imports().items()
        for other in others
        if layer_of(other) > layer_of(module)
    }
    assert upward == set(AGAINST_THE_ORDER)


@pytest.mark.parametrize("layer", range(len(LAYERS) - 1), ids=lambda k: LAYERS[k][0])
def test_names_of_layers_are_of_modules(layer):
    for name in LAYERS[layer][1].split():
        assert f"theano.{name}" in imports(), f"there is no theano.{name}"


def test_circles_are_found():
    graph = {
        "a": frozenset({"b"}),
        "b": frozenset({"c"}),
        "c": frozenset({"b"}),
        "d": frozenset({"a"}),
    }
    assert circles(graph) == [["b", "c"]]


def test_imports_inside_functions_are_seen():
    # `split_batch` loads the engine of devices when it is first asked for
    assert "theano.link.xla" in imports()["theano.compile.mode_components.split_batch"]
    assert "theano.link.native" in imports()["theano.compile.mode_components.linkers"]
    assert "theano.compile.debugmode" in imports()["theano.compile.mode"]
