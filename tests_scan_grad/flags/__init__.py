"""Every flag with every value: programs compute what they compute with the defaults."""
