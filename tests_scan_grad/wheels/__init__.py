"""Wheels for every platform: made by one command, and looked at without running what they hold."""
