"""References to tokens, values and groups are added and dropped where ownership says so.

`reference_counts` has the algorithm, on `liveness` and `shared_exits`.  `async_ref_counting` and
`async_ref_counting_optimization` are the seed's, on tasks; `async_runtime_ref_counting` and
`async_runtime_ref_counting_opt` those of a run, on coroutines;
`async_runtime_policy_based_ref_counting` needs no analysis.  `hoist_ref_counts` takes the
references of a loop's tasks at once.  `mark_explicit_counts` tells counts of the program from ours,
`drop_on_error_paths` drops where a body is left early.
"""
