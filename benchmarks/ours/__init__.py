"""Our works, by kind: `programs` has the sources, `running` opens them, then `scalars`, `tasks`,
`calls`, `tensors`, `texts`.
"""

from benchmarks.ours import calls, scalars, tasks, tensors, texts

WORKS = (*scalars.WORKS, *tasks.WORKS, *calls.WORKS, *tensors.WORKS, *texts.WORKS)
