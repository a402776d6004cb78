"""Rewritten graphs on disk, in sealed files of the user's own."""
