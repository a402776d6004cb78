"""Effects of passes on statements: fewer of them, on vectors, by rows, in less memory."""
