"""Add and drop references to tokens, values, and groups as ownership requires.

`reference_counts` has the algorithm, which uses `liveness` and lets exits share their drops.
`async_ref_counting` has the passes of the dialect's original review, which count at tasks, and the
passes that remove pairs of counts or move them out of loops. `async_runtime_ref_counting` has the
passes that count in coroutines and distinguish the program's counts from the automatic ones, a pass
that drops references where control leaves a body early, and a simple pass that needs no analysis.
"""
