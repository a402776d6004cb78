"""Contents of the caches on disk."""
