"""Training steps in PyTorch: of any network, and with its own modules where it has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests_scan_grad.timing.programs.network_programs import Step
from tests_scan_grad.timing.programs.networks import LEARNING_RATE, Network

# the gates i, f, o, g of a step as torch.nn.LSTM has them: i, f, g, o
LSTM_GATES = (0, 1, 3, 2)


def parameters_of(network: Network) -> dict[str, Any]:
    """Return the parameters' first values as tensors to learn."""
    import torch

    made = network.initial()
    return {name: torch.nn.Parameter(torch.from_numpy(made[name])) for name in network.shapes}


def torch_operations(more: Mapping[str, Any]) -> SimpleNamespace:
    """Return PyTorch's functions under the names that a network uses; `more` are others."""
    import torch

    def loop(step, sequences, states, weights, name):
        found = []
        for slices in zip(*sequences, strict=True):
            states = step(operations, *slices, *states, *weights)
            found.append(states)
        # not stacked: what is not read need not be
        return list(zip(*found, strict=True))

    operations = SimpleNamespace(
        dot=torch.matmul,
        sigmoid=torch.sigmoid,
        tanh=torch.tanh,
        exp=torch.exp,
        log=torch.log,
        sqrt=torch.sqrt,
        concatenate=torch.cat,
        greatest=partial(torch.amax, dim=0),
        reverse=partial(torch.flip, dims=(0,)),
        stack=torch.stack,
        cross_entropy=torch.nn.functional.cross_entropy,
        scan=loop,
        **more,
    )
    return operations


def torch_network(
    network: Network, more: Mapping[str, Any] | None = None
) -> tuple[list[Any], Callable]:
    """Return a network's parameters, and its cost by the operations of PyTorch and `more`."""
    parameters = parameters_of(network)
    operations = torch_operations(more or {})
    return list(parameters.values()), partial(network.cost, operations, parameters)


def reordered(array: np.ndarray, gates: tuple[int, ...]) -> np.ndarray:
    """Return columns with their gates in another order."""
    return np.concatenate([np.split(array, len(gates), axis=-1)[gate] for gate in gates], axis=-1)


def filled(module: Any, values: Mapping[str, np.ndarray]) -> None:
    """Give a module's parameters values; those that are not named are zeros."""
    import torch

    with torch.no_grad():
        for name, parameter in module.named_parameters():
            value = values.get(name)
            parameter.zero_() if value is None else parameter.copy_(torch.from_numpy(value))


def lstm(network: Network) -> tuple[list[Any], Callable]:
    """torch.nn.LSTM."""
    import torch

    made = network.initial()
    width = made["layer0_W"].shape[0]
    layers = sum(name.endswith("_W") for name in network.shapes)
    module = torch.nn.LSTM(width, width, num_layers=layers)
    values = {}
    for layer in range(layers):
        for ours, theirs in (("W", "weight_ih"), ("U", "weight_hh"), ("b", "bias_ih")):
            turned = reordered(made[f"layer{layer}_{ours}"], LSTM_GATES)
            values[f"{theirs}_l{layer}"] = np.ascontiguousarray(turned.T)
    filled(module, values)
    # it has two biases where others have one
    for layer in range(layers):
        getattr(module, f"bias_hh_l{layer}").requires_grad_(False)

    def cost(inputs):
        first = inputs["h0"].expand(layers, -1, -1).contiguous()
        states, _ = module(inputs["x"], (first, first))
        error = states - inputs["target"] if "target" in inputs else states
        return (error**2).sum(dim=2).mean()

    return list(module.parameters()), cost


def plain_recurrent(network: Network) -> tuple[list[Any], Callable]:
    """torch.nn.RNN, whose error is what its states differ by from zero."""
    import torch

    made = network.initial()
    module = torch.nn.RNN(*made["W"].shape)
    values = {"weight_ih_l0": made["W"].T.copy(), "weight_hh_l0": made["U"].T.copy()}
    filled(module, {**values, "bias_ih_l0": made["b"]})
    # it has two biases where others have one
    module.bias_hh_l0.requires_grad_(False)

    def cost(inputs):
        states, _ = module(inputs["x"], inputs["h0"][None])
        return (states**2).sum(dim=2).mean()

    return list(module.parameters()), cost


def perceptron(network: Network) -> tuple[list[Any], Callable]:
    """Linear layers and tanh."""
    import torch

    parameters = parameters_of(network)
    layers = len(parameters) // 2

    def cost(inputs):
        h = inputs["x"]
        for layer in range(layers):
            h = torch.addmm(parameters[f"b{layer}"], h, parameters[f"W{layer}"])
            if layer + 1 < layers:
                h = torch.tanh(h)
        return torch.nn.functional.cross_entropy(h, inputs["y"])

    return list(parameters.values()), cost


def embedding(network: Network) -> tuple[list[Any], Callable]:
    """torch.nn.functional.embedding_bag with a sparse gradient."""
    import torch

    parameters = parameters_of(network)
    table = parameters["table"]

    def cost(inputs):
        means = torch.nn.functional.embedding_bag(inputs["words"], table, mode="mean", sparse=True)
        logits = torch.addmm(parameters["b"], means, parameters["W"])
        return torch.nn.functional.cross_entropy(logits, inputs["y"])

    return list(parameters.values()), cost


def language(network: Network) -> tuple[list[Any], Callable]:
    """torch.nn.GRU between a table of words, whose gradient is sparse, and a linear layer."""
    import torch

    made, parameters = network.initial(), parameters_of(network)
    width = made["U"].shape[0]
    module = torch.nn.GRU(width, width)
    values = {
        "weight_ih_l0": made["W"].T.copy(),
        "weight_hh_l0": made["U"].T.copy(),
        "bias_ih_l0": made["b"],
        "bias_hh_l0": made["c"],
    }
    filled(module, values)
    others = [parameters[name] for name in ("table", "say_W", "say_b")]

    def cost(inputs):
        words = torch.nn.functional.embedding(inputs["words"], parameters["table"], sparse=True)
        states, _ = module(words, inputs["h0"][None])
        rows = states.reshape(-1, width)
        logits = torch.addmm(parameters["say_b"], rows, parameters["say_W"])
        return torch.nn.functional.cross_entropy(logits, inputs["next"].reshape(-1))

    return [*module.parameters(), *others], cost


def attention(network: Network) -> tuple[list[Any], Callable]:
    """A loop in Python, as such decoders are written."""
    import torch

    p = parameters_of(network)

    def cost(inputs):
        annotations, h, states = inputs["annotations"], inputs["h0"], []
        keys = annotations @ p["keys"]
        for x in inputs["x"]:
            scores = torch.tanh(keys + h @ p["attend_W"]) @ p["attend_v"]
            shares = torch.softmax(scores, dim=0)
            context = (shares[:, :, None] * annotations).sum(dim=0)
            seen = torch.cat([x, context], dim=1) @ p["decode_W"]
            h = torch.tanh(seen + h @ p["decode_U"] + p["decode_b"])
            states.append(h)
        return ((torch.stack(states) - inputs["target"]) ** 2).sum(dim=2).mean()

    return list(p.values()), cost


MODULES: Mapping[str, Callable[[Network], tuple[list[Any], Callable]]] = {
    "lstm": lstm,
    **{f"perceptron-{batch}": perceptron for batch in (20, 500, 5000)},
    "softmax-500": perceptron,
    "embedding": embedding,
    "language": language,
    "attention": attention,
}


def torch_step(name: str, network: Network, compiled: bool = False) -> Step:
    """Return the training step of a module, eager or through ``torch.compile``."""
    import torch

    made, cost = MODULES[name](network)
    return trained(network, made, torch.compile(cost) if compiled else cost)


def trained(network: Network, made: list[Any], cost: Callable) -> Step:
    """Return the step that computes a cost and trains what is made for it."""
    import torch

    parameters = [parameter for parameter in made if parameter.requires_grad]
    if network.kept:
        optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE)
    else:
        optimizer = torch.optim.SGD(parameters, lr=LEARNING_RATE)

    def step(arrays):
        tensors = {key: torch.from_numpy(array) for key, array in arrays.items()}
        # labels must be of 64 bits
        inputs = {key: t.long() if t.dtype == torch.int32 else t for key, t in tensors.items()}
        value = cost(inputs)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value.detach().numpy()

    return step
