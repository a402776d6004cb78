"""From C text to code that can be called: the compiler, objects, libraries, programs on disk."""
