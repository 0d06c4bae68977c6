"""What tfrt-nb costs, beside what others cost for the same thing in the same run: `make bench`.

Read `cases` (what), `work` and `child` (how a process measures), `driver` (turns), `report`; `ours` and `peers` do
the work, of sizes in `sizes`, on tensors in `inputs`.  `board` measures what watching costs.
"""
