"""Schedules: tensor statements become loop nests for a processor: loops, vectors, accumulators, polls."""
