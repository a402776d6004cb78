"""Messages about users' mistakes: the class of each error, and what its message names."""
