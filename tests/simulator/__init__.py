"""A simulated machine, to run native functions uncompiled, step by step, in every order.

Builds on `native.memory`, whose `World` it is.  Read in this order: `words` (which values a load
may return), `bits` (parts of a word), `heap` (lifetimes), `threads` and `scheduler` (the order of
steps, decided by a `Chooser`), `races`; then the operations of a world, layer on layer: `core`,
`plain`, `atomics`, `waiting`, `world`.  `footprints` say what operations touch, `failures` what can
go wrong; `trace` is what a reader sees.

`tests.exploring.explorer` is the front door for tests.
"""
