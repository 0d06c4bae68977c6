"""Add and drop references to tokens, values, and groups as ownership requires.

`reference_counts` has the algorithm, which uses `liveness` and lets exits share their drops.
`async_ref_counting` has the original review's passes, on tasks, and those that remove pairs of
counts or move them out of loops. `async_runtime_ref_counting` has the passes on coroutines, which
distinguish the program's counts from ours, one that drops references where a body is left early,
and one that needs no analysis.
"""
