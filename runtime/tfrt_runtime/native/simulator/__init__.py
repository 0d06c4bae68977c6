"""A simulated machine, to run native functions uncompiled, step by step, in every order.

Stands on `native.memory`, whose `World` it is.  Read in this order: `words` (which values a load may return),
`bits` (parts of a word), `heap` (lifetimes), `threads` and `scheduler` (the order of steps, decided by a
`Chooser`), `races`; then the operations of a world, layer on layer: `core`, `plain`, `atomics`, `waiting`,
`world`.  `choosers` follow a schedule or try all of them, `reduction` tries one for each behaviour, from the
`footprints` of operations.  `failures` are what can go wrong, `trace` is what a reader sees.

`tfrt_runtime.testing.explorer` is the front door for tests.
"""
