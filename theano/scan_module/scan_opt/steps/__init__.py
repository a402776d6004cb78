"""Steps of loops: how they are rewritten, and their normal forms."""
