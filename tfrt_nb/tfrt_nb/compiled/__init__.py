"""The functions of a program that become machine code: `async.func`, and `func.func` with a `return`.

Read in this order: `kinds` (which functions these are), `declarations` (what host functions see of them),
`file` (both kinds in one BEF file), `payloads` (Python values as the bytes that compiled code takes and
gives), `half` (their signatures, their stages, their code), `host` (code on a host), `execution` (one run),
`kernels` (calls by host functions).  What an async function is, and how it gets there, is in `passes` and
`jit`.
"""
