"""Standard kernels for tensors.

`arguments` (the basis of the others), `tensors`, `tensor_shapes`, and `btf`; for the CPU backend,
`cpu_elements` and `cpu_convolution` (with matrix products).
"""
