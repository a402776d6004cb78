"""What lies in the caches on disk."""
