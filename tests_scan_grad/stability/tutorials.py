"""Networks of Theano's first tutorials, trained on data that nobody scaled.

As a script, `tutorials.py RESULTS` trains each by the Theano that is there, and writes what every
step gives. It runs on Python 3.8, and needs nothing of this project.
"""

import json
import sys

import numpy as np

STEPS = 6
PIXELS, HIDDEN, CLASSES, IMAGES = 30, 12, 4, 16


class Network:
    """The weights of a network, its inputs, and its cost."""

    def __init__(self, theano, floatx, size):
        self.theano, self.floatx, self.size = theano, floatx, size
        self.rng = np.random.RandomState(7)
        self.weights, self.inputs, self.data, self.cost = [], [], [], None

    def weight(self, *shape):
        bound = self.size / np.sqrt(shape[0]) if len(shape) > 1 else 0
        value = self.rng.uniform(-1, 1, shape) * bound
        self.weights.append(self.theano.shared(value.astype(self.floatx)))
        return self.weights[-1]

    def input(self, value):
        """Return a variable for data, whose type is the data's."""
        kind = self.theano.tensor.TensorType(str(value.dtype), (False,) * value.ndim)
        self.inputs.append(kind(f"data{len(self.inputs)}"))
        self.data.append(value)
        return self.inputs[-1]

    def images(self):
        """Return images whose pixels are 0 to 255, as floats."""
        return self.input(self.rng.randint(0, 256, (IMAGES, PIXELS)).astype(self.floatx))

    def labels(self, dtype="int32"):
        return self.input(self.rng.randint(0, CLASSES, IMAGES).astype(dtype))


def logistic_regression(net, T):
    x, y = net.images(), net.labels()
    p = T.nnet.softmax(T.dot(x, net.weight(PIXELS, CLASSES)) + net.weight(CLASSES))
    net.cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y])


def perceptron(net, T):
    x, y = net.images(), net.labels("int64")
    w, h = net.weight(PIXELS, HIDDEN), net.weight(HIDDEN, CLASSES)
    hidden = T.tanh(T.dot(x, w) + net.weight(HIDDEN))
    p = T.nnet.softmax(T.dot(hidden, h) + net.weight(CLASSES))
    penalty = 0.001 * abs(w).sum() + 0.0001 * (w**2).sum() + 0.0001 * (h**2).sum()
    net.cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y]) + penalty


def autoencoder(net, T):
    x = net.images() / 255
    w = net.weight(PIXELS, HIDDEN)
    hidden = T.nnet.sigmoid(255 * T.dot(x, w) + net.weight(HIDDEN))
    z = T.nnet.sigmoid(T.dot(hidden, 40 * w.T) + net.weight(PIXELS))
    net.cost = T.mean(-T.sum(x * T.log(z) + (1 - x) * T.log(1 - z), axis=1))


def boltzmann_machine(net, T):
    """One step of contrastive divergence on a mean field, with the cost that the tutorial watches."""
    x = net.images()
    w, b, c = net.weight(PIXELS, HIDDEN), net.weight(PIXELS), net.weight(HIDDEN)

    def free_energy(v):
        return -T.dot(v, b) - T.sum(T.log(1 + T.exp(T.dot(v, w) + c)), axis=1)

    before = T.dot(T.nnet.sigmoid(T.dot(x, w) + c), w.T) + b
    again = net.theano.gradient.disconnected_grad(T.nnet.sigmoid(before))
    likeness = T.mean(
        T.sum(
            x / 255 * T.log(T.nnet.sigmoid(before))
            + (1 - x / 255) * T.log(1 - T.nnet.sigmoid(before)),
            axis=1,
        )
    )
    net.cost = T.mean(free_energy(x)) - T.mean(free_energy(again))
    net.watched = likeness


def memory_cells(net, T):
    """A long short-term memory with masks and the mean over time, and its classifier."""
    steps = 5
    words = net.rng.randint(0, 256, (steps, IMAGES, HIDDEN)).astype(net.floatx)
    x, y = net.input(words), net.labels()
    mask = net.input((net.rng.rand(steps, IMAGES) < 0.8).astype(net.floatx))
    w, u, b = net.weight(HIDDEN, 4 * HIDDEN), net.weight(HIDDEN, 4 * HIDDEN), net.weight(4 * HIDDEN)

    def step(m_t, x_t, h, c):
        gates = T.dot(x_t, w) + T.dot(h, u) + b
        i, f, o, g = [gates[:, k * HIDDEN : (k + 1) * HIDDEN] for k in range(4)]
        new = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(g)
        new = m_t[:, None] * new + (1 - m_t)[:, None] * c
        out = T.nnet.sigmoid(o) * T.tanh(new)
        return m_t[:, None] * out + (1 - m_t)[:, None] * h, new

    zero = T.alloc(np.asarray(0, net.floatx), IMAGES, HIDDEN)
    (rows, _), _ = net.theano.scan(step, sequences=[mask, x], outputs_info=[zero, zero])
    mean = (rows * mask[:, :, None]).sum(axis=0) / (mask.sum(axis=0)[:, None] + 1)
    p = T.nnet.softmax(20 * T.dot(mean, net.weight(HIDDEN, CLASSES)) + net.weight(CLASSES))
    net.cost = -T.log(p[T.arange(IMAGES), y] + 1e-8).mean()


NETWORKS = {
    each.__name__: each
    for each in (logistic_regression, perceptron, autoencoder, boltzmann_machine, memory_cells)
}
CASES = [
    (name, floatx, size, rate)
    for name in NETWORKS
    for floatx in ("float64", "float32")
    for size in (0.05, 1.0, 8.0)
    for rate in (1e-4, 0.1)
]


def trained(theano, name, floatx, size, rate):
    """Return the cost, and the largest gradient of each weight, of each step."""
    T = theano.tensor
    net = Network(theano, floatx, size)
    NETWORKS[name](net, T)
    gradients = T.grad(net.cost, net.weights)
    rate = np.asarray(rate, floatx)
    updates = [(w, w - rate * g) for w, g in zip(net.weights, gradients)]  # noqa: B905 -- Python 3.8
    results = [net.cost, *[abs(g).max() for g in gradients], *[getattr(net, "watched", net.cost)]]
    f = theano.function(net.inputs, results, updates=updates, mode="FAST_RUN")
    with np.errstate(all="ignore"):
        return [[float(v) for v in f(*net.data)] for _ in range(STEPS)]


def main():
    import theano

    results = []
    for case in CASES:
        theano.config.floatX = case[1]
        results.append([list(case), trained(theano, *case)])
    with open(sys.argv[1], "w") as sink:
        json.dump(results, sink)


if __name__ == "__main__":
    main()
