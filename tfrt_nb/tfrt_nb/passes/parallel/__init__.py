"""Lower `scf.parallel` to tasks.

`async_parallel_for` divides the iterations of a loop into blocks, builds a function that computes
one block, and starts tasks that call this function. `parallel_reduction` splits loops with
reductions: each block computes a partial result. `index_math` emits the index arithmetic.
"""
