"""Parts of arrays that are read, written and joined."""
