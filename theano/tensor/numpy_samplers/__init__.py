"""Samples of NumPy's `RandomState`, as `shared_randomstreams` makes them."""
