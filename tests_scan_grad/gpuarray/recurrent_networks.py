"""Recurrent networks as users write them with `scan`, by the names of `params_to_scan`."""

import theano
import theano.tensor as T


def _lstm_step(w):
    def step(x, h, c):
        i, f, o = (
            T.nnet.sigmoid(x.dot(w[f"W_{g}"]) + h.dot(w[f"U_{g}"]) + w[f"b_{g}"]) for g in "ifo"
        )
        c = f * c + i * T.tanh(x.dot(w["W_c"]) + h.dot(w["U_c"]) + w["b_c"])
        return o * T.tanh(c), c

    return step


def _gru_step(w):
    def step(x, h):
        r, z = (T.nnet.sigmoid(x.dot(w[f"W_{g}"]) + h.dot(w[f"U_{g}"]) + w[f"b_{g}"]) for g in "rz")
        n = T.tanh(x.dot(w["W_n"]) + w["b_n"] + r * (h.dot(w["U_n"]) + w["bU_n"]))
        return (1 - z) * n + z * h

    return step


def _plain_step(activation):
    def of_weights(w):
        return lambda x, h: activation(x.dot(w["W_h"]) + h.dot(w["U_h"]) + w["b_h"])

    return of_weights


STEPS = {
    "rnn_relu": _plain_step(T.nnet.relu),
    "rnn_tanh": _plain_step(T.tanh),
    "lstm": _lstm_step,
    "gru": _gru_step,
}


def scanned(mode, weights, x, starts, directions=1):
    """Return the outputs and the last states of a stack of layers, each its own loop."""
    last = [[] for _ in starts]
    for first in range(0, len(weights), directions):
        outputs = []
        for direction in range(directions):
            k = first + direction
            traces, _ = theano.scan(
                STEPS[mode](weights[k]),
                sequences=x[::-1] if direction else x,
                outputs_info=[start[k] for start in starts],
                return_list=True,
            )
            outputs.append(traces[0][::-1] if direction else traces[0])
            for states, trace in zip(last, traces, strict=True):
                states.append(trace[-1])
        x = T.concatenate(outputs, axis=2)
    return [x, *(T.stack(states) for states in last)]
