"""What is said of the mistakes that users make: the class of each error, and what its message names."""
