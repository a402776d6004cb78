"""C on its way: written in parts, compiled ahead and again, kept, and called."""
