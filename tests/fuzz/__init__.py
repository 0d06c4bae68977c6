"""Fuzzing: run mutants of programs in child processes that may die, and report the outcomes.

    make fuzz MINUTES=10 SEED=1 NETS="bef host async"

`nets` creates the cases and reduces a find, `children` runs the cases in watched processes, and
`__main__` is the command. A net creates case number N of a seed independently of the others, so any
case can be created again. Read `nets` first. `random_runs` has the nets of random programs, which
must do the same wherever they run, `after_passes` those of programs that passes have changed, and
`explored` that of `--explore`.
"""
