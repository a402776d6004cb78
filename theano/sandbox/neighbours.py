"""Windows of images, at the place where old programs look for them."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.nnet.neighbours import Images2Neibs, images2neibs, neibs2images
