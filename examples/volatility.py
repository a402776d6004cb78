"""Sample the volatility of a share: GARCH(1, 1) on four years of daily prices.

    python examples/volatility.py --plot volatility.png

Needs the extra [pymc]. The prices are Google's of 2004 to 2008, which Matplotlib ships; the plot is
ArviZ's, where it is installed. Ctrl-C ends sampling, and what was drawn is summarized.
"""

import argparse

import arviz_stats
import numpy as np
import nutpie
import pymc as pm
from matplotlib import cbook

import theano.pymc

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--draws", type=int, default=1000, help="of each of 4 chains")
parser.add_argument("--quiet", action="store_true", help="show no progress")
parser.add_argument("--plot", metavar="FILE", help="a picture of the samples")
arguments = parser.parse_args()

prices = cbook.get_sample_data("goog.npz")["price_data"]
returns = 100 * np.diff(np.log(prices["adj_close"]))

with pm.Model() as model:
    scale = pm.HalfNormal("scale", 2)
    # how much of a shock, and of yesterday's variance, is in today's variance
    shocks, memory = pm.Beta("shocks", 2, 8), pm.Beta("memory", 8, 2)
    pm.Deterministic("persistence", shocks + memory)
    pm.GARCH11(
        "returns",
        omega=scale,
        alpha_1=shocks,
        beta_1=memory,
        initial_vol=returns.std(),
        observed=returns - returns.mean(),
    )

trace = nutpie.sample(
    theano.pymc.compile_model(model),
    draws=arguments.draws,
    chains=4,
    seed=1,
    progress_bar=not arguments.quiet,
)
print(f"{len(returns)} daily returns, in percent")
print(arviz_stats.summary(trace))

if arguments.plot:
    import arviz_plots

    arviz_plots.plot_trace_dist(trace, backend="matplotlib").savefig(arguments.plot)
    print("Written:", arguments.plot)
