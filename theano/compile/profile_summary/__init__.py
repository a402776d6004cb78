"""What the summary of a profile prints, one file for each of its parts."""
