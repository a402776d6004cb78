"""A function's graph: what of it becomes native code, and which memory it may overwrite."""
