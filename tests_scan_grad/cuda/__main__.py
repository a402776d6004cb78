"""Check and time kernels on a GPU: ``python -m tests_scan_grad.cuda``.

The gated network's loop and its backward loop in float32, at four sizes: the time of all steps and that of
the model, and how far the gradients are from float64 by the native engine. Then the same in programs of XLA,
with kernels and with XLA's loops, if JAX has a GPU. It takes a GPU and NVRTC
(``pip install nvidia-cuda-nvrtc``).
"""

from __future__ import annotations

import argparse

from tests_scan_grad.cuda.measured import SIZES, rows_in_xla, rows_of
from theano.link.cuda import compiled


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--driver", default="libcuda.so.1", help="the driver's library")
    arguments = parser.parse_args()
    for row in rows_of(arguments.driver, lambda kernel, sm: compiled(kernel.source, sm), SIZES):
        print(row, flush=True)
    import jax

    if jax.default_backend() == "gpu":
        for row in rows_in_xla(SIZES):
            print(row, flush=True)


if __name__ == "__main__":
    main()
