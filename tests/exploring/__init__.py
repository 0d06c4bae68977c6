"""Explore native functions in every order of their steps, on the simulated machine.

The machine is in `tests.simulator`. Read in this order: `choosers` (follow a schedule, or try all
of them), `reduction` (one schedule for each behavior, from the footprints of operations),
`explorer` (the entry point). Scenarios build on `simulated_host`; `simulated_program` decodes
programs there, and `simulated_coroutines` has the functions of compiled code.
"""
