"""Statements as loop nests for a block of a GPU: its elements are shared among the block's lanes."""
