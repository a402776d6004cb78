"""Draws from NumPy's `RandomState`, as `shared_randomstreams` makes them."""
