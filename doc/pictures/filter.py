"""Draws a function with a loop by ``pydotprint``, which needs pydot and graphviz.

python doc/pictures/filter.py [FOLDER]
"""

import sys
from pathlib import Path

import theano
import theano.tensor as T


def main(folder: Path) -> None:
    """Write the picture of the function and that of the loop's step."""
    x = T.dvector("x")
    states, _ = theano.scan(
        lambda u, state: 0.5 * state + u, sequences=x, outputs_info=T.zeros(()), name="filter"
    )
    function = theano.function([x], states[-1])
    theano.printing.pydotprint(
        function, folder / "filter.svg", format="svg", scan_graphs=True, print_output_file=False
    )
    [step] = folder.glob("filter_filter_*.svg")
    step.rename(folder / "filter_step.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
