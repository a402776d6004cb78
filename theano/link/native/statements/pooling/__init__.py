"""Pooling over windows of images, and its gradients, as one kind of statement."""
