"""What is kept on disk: rewritten graphs, in sealed files of the user's own."""
