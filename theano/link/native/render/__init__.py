"""The intermediate form as C: no other package has text of that language."""
