"""Native functions in every order of their steps, on the simulated machine of `tests.simulator`.

Read in this order: `choosers` (follow a schedule, or try all of them), `reduction` (one schedule for each
behaviour, from the footprints of operations), `explorer` (the front door).  `simulated_host` is what scenarios
build on; `simulated_program` decodes programs there, `simulated_coroutines` has compiled code's
functions.
"""
