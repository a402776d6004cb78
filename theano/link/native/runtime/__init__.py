"""The C runtime of the native CPU engine: its sources, and how they are built and called."""
