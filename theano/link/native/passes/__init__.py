"""What changes a lowered step before it is written as C."""
