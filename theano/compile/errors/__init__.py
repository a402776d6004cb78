"""Error messages of compiled functions: where, why, and what to do."""
