"""What is relied upon of compiling and linking functions, and of their modes and flags."""
