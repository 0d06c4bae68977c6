"""The commands that run programs: `run` and `bench`.

`run` builds on `run_compiled` (compiled functions) and `schedules` (`--explore`, `--replay`, and
`--step`). `following` contains traces and the progress line. `known_programs` gets programs from
the cache. `bench` measures runs.
"""
