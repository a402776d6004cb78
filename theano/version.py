"""The version of this package, and the Theano release whose API it follows."""

version = "1.1.0"
short_version = version
api_version = "1.0.5"
