"""Other libraries: which there are, and the same programs in each."""
