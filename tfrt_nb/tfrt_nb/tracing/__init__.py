"""Programs from Python: functions that are traced, and kernels that are called one by one.

A function of `@program` runs once with stand-ins for its arguments.  What it does with them,
operators and calls of kernels, becomes operations that keep their Python places.

`trace` has the values, operations and functions of a program that is being made, and their types;
`operators`, `calls` and `control` what makes operations; `names` what Python calls the values,
`records` what becomes of them: a BEF file at once, text when asked for; `functions` is `@program`,
`eager` is `tfrt.call`, `api` has the public names, `static` what type checkers see of them.
"""
