"""The intermediate form: typed buffers, views of them, symbolic sizes, statements."""
