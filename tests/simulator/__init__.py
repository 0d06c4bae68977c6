"""A simulated machine that runs native functions uncompiled, step by step, in every order.

It builds on `native.memory`, whose `World` it implements. Read in this order: `words` (which values
a load may return), `bits` (parts of a word), `heap` (lifetimes), `threads` and `scheduler` (the
order of steps, decided by a `Chooser`), `races`; then the operations of a world, layer by layer:
`core`, `plain`, `atomics`, `waiting`, `world`. `footprints` has the places that operations touch,
`failures` the errors, and `trace` the table that a reader sees.

`tests.exploring.explorer` is the entry point for tests.
"""
