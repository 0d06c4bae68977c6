"""Standard kernels for tensors.

`arguments` (which the other modules use), `tensors`, `tensor_shapes`, and `btf`; for the CPU
backend, `cpu_elements` and `cpu_convolution` (with matrix products).
"""
