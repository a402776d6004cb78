"""The pieces of the character model that `examples/char_rnn.py` trains."""
