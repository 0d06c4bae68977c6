"""Lower `scf.parallel` to tasks.

`async_parallel_for` cuts the iterations into blocks, builds a function that computes one block, and
dispatches the blocks. `parallel_reduction` gives each block a partial result. `index_math` emits
the index arithmetic.
"""
