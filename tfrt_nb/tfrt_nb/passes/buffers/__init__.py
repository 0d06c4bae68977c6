"""Operations on buffers become loads and stores that stay in their buffer.

`check_buffers` refuses what cannot be compiled, `expand_buffers` and
`convert_linalg_to_parallel_loops` make loops of operations on whole buffers.  `guard_buffers`
asserts bounds and that a buffer is not freed, in front of loops where that is the same,
`guard_views` what views need.
"""
