"""Words of messages."""
