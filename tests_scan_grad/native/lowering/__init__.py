"""Operations in C: each by the engine as by its own ``perform``."""
