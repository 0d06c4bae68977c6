"""Our works, by kind.

`programs` has the sources, and `running` opens them. Then read `scalars`, `tasks`, `calls`,
`tensors`, and `texts`.
"""

from benchmarks.ours import calls, scalars, tasks, tensors, texts

WORKS = (*scalars.WORKS, *tasks.WORKS, *calls.WORKS, *tensors.WORKS, *texts.WORKS)
