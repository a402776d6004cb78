"""Random steps of many operations: scan next to the unrolled graph in Python, without rewrites."""
