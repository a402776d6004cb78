"""The user's code: its lines, which errors name, and which modules use Theano."""
