"""The specification of well-formed programs, as statements and as loop nests; asked between passes in tests."""
