"""How values read in C: what the text of every kind of statement is made of."""
