"""Commands that run programs: `run` and `bench`.

`run` stands on `run_compiled` (compiled functions) and `schedules` (`--explore`, `--replay` and `--step`).  `tracing` and `following`
are for traces, `progress` for a terminal; `known_texts` takes the BEF of a text from the cache.  `bench` measures runs.
"""
