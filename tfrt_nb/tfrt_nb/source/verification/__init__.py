"""Whether a module that was parsed makes sense.

Read in this order: `keys` (operations with equal keys are checked once), `dominance` (values are defined before
they are used), `attributes` (of functions and modules), `advice` (what to write
instead), `verify` (all checks of a module, which is the way in).
"""
