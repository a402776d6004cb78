"""Random steps of many operations: scan beside the unrolled graph in Python, without rewrites."""
