"""How each operation reads in the intermediate form: one module for a family of operators."""
