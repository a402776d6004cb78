"""What is timed, an experiment a file: `registry` names them."""
