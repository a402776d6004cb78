"""Products, factors and solutions, of matrices and of stacks of them."""
