"""From the user's function of one step to a loop of the graph."""
