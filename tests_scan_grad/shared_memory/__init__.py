"""Random functions that share variables, compared with NumPy."""
