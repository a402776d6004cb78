"""Facts about one step of a loop: shapes, zeros, products, what depends on what."""
