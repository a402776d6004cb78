"""README and the pages of ``doc/``, and the examples that they run."""
