"""The programs that are timed, written for every library."""
