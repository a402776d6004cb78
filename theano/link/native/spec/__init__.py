"""What a well-formed program is, as statements and as loop nests; asked between passes in tests."""
