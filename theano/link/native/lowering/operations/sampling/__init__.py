"""Random samples: of MRG_RandomStreams, and of NumPy's `RandomState`."""
