"""Commands that run programs: `run` and `bench`.

`run` builds on `run_compiled` (compiled functions) and `schedules` (`--explore`, `--replay` and
`--step`).  `following` has traces and the line of progress; `known_programs` takes from the cache
what a run needs of a program.  `bench` measures runs.
"""
