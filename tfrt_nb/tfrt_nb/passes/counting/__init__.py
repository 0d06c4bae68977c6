"""References to tokens, values and groups are added and dropped where ownership says so.

`reference_counts` has the algorithm, on `liveness`, and lets exits share their drops.
`async_ref_counting` has the passes of the seed, on tasks; `async_runtime_ref_counting` those on
coroutines, which tell counts of the program from ours, and one that needs no analysis.
`async_runtime_ref_counting_opt` removes pairs of counts, or takes them out of loops.
`drop_on_error_paths` drops where a body is left early.
"""
