"""Add and drop references to tokens, values, and groups as ownership requires.

`reference_counts` contains the algorithm, and `liveness` the analysis on which it depends.
`async_ref_counting` contains the passes of the dialect's original review, which count references at
tasks, and the passes that remove pairs of counts or move counts out of loops.
`async_runtime_ref_counting` contains the passes that count references in coroutines. It also has a
pass that marks the counts that a program itself contains, a pass that drops references where an
error leaves a body early, and a simple pass without any analysis.
"""
