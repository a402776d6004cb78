"""Lower a graph's nodes to the intermediate form: steps of loops, and segments."""
