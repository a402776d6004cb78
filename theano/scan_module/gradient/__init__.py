"""The gradient of a loop: values that are saved, the backward loop, the tangent loop."""
