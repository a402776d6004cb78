"""How a time is taken, and what it depends on."""
