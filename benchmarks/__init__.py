"""Measure the cost of tfrt-nb and of other tools for the same work in the same run: `make bench`.

Read `cases` (the table of cases), `work` and `child` (how a process measures), `driver` (turns),
and `report`. `ours` and `peers` do the work, with the sizes in `sizes` and the tensors in `inputs`.
`board` measures the cost of watching.
"""
