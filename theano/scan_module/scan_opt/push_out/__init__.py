"""Work that left a loop, computed for all of its steps at once."""
