"""Support for the package that knows no graph: data classes, lazy imports, messages, memory."""
