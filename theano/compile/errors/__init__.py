"""What errors of compiled functions say: where, why, and what to do."""
