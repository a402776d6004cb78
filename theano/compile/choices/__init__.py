"""What a mode is chosen from, by names: linkers, and rewrites."""
