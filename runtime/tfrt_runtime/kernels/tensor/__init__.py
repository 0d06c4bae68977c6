"""Standard kernels for tensors.

`arguments` (which the other modules use), `tensors`, `tensor_shapes`, and `btf`.  The CPU backend
is in `cpu_elements` and `cpu_convolution` (with matrix products).
"""
