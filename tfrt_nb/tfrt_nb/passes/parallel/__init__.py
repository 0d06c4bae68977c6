"""`scf.parallel` as tasks.

`async_parallel_for` cuts the iterations into blocks and starts them, `parallel_compute` makes the function that
computes a block, `parallel_reduction` gives each block a part of the result; `index_math` emits their arithmetic.
"""
