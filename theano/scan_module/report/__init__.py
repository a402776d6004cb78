"""Reports of what was saved, hoisted and merged, and what was not, and why."""
