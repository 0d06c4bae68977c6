"""Standard kernels for tensors.

- `arguments`: parts that the other modules use
- `tensors`, `tensor_shapes`, `btf`
- The CPU backend: `cpu_elements`, and `cpu_convolution` (with matrix products)
"""
