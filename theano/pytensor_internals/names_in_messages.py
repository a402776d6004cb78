"""PyTensor's names, by which its messages and operators are recognized."""

# the logger of warnings on BLAS
BLAS_LOGGER = "pytensor.tensor.blas"
# the modules of its operators of linear algebra, whatever release they are of
LINEAR_ALGEBRA = ("pytensor.tensor.linalg", "pytensor.tensor.slinalg", "pytensor.tensor.nlinalg")
