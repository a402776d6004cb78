"""The intermediate form as C text."""
