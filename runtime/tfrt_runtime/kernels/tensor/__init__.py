"""Standard kernels over tensors.

`arguments` (what they build on), `tensors`, `tensor_shapes`, `btf`; of the CPU backend
`cpu_elements`, `cpu_convolution` (with products).
"""
