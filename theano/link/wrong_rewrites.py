"""PyTensor's rewrites that change results: neither Theano's modes nor the engines ask for them."""

# gives the diagonals of a stack along its first axes in another order
WRONG_REWRITES = ("extract_diag_lift_pass",)
