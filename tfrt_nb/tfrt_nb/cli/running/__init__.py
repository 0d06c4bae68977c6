"""Commands that run programs: `run` and `bench`.

`run` builds on `run_compiled` (compiled functions) and `schedules` (`--explore`, `--replay`, and
`--step`). `following` has traces and the progress line. `known_programs` gets the parts of a
program that a run needs from the cache.  `bench` measures runs.
"""
