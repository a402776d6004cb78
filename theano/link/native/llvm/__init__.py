"""Compile the engine's C without a C compiler: to LLVM's form, which llvmlite compiles in the process."""
