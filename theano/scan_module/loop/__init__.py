"""A loop as data: the one place that knows the order of a ``Scan`` node's arguments."""
