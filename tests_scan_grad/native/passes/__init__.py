"""What passes make of statements: fewer of them, on vectors, by rows, in less memory."""
