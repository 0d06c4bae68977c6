"""Add and drop references to tokens, values, and groups as ownership requires.

`reference_counts` has the algorithm, which uses `liveness` and lets exits share their drops.
`async_ref_counting` has the original review's passes, on tasks. `async_runtime_ref_counting` has
the passes on coroutines, which distinguish the program's counts from ours, and one that needs no
analysis. `async_runtime_ref_counting_opt` removes pairs of counts, or moves them out of loops.
`drop_on_error_paths` drops references where a body is left early.
"""
