"""Programs and idioms of Theano's time, against numbers that Theano 1.0.5 gave."""
