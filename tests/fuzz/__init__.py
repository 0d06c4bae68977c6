"""Fuzzing: mutants of programs in child processes that may die, and what became of them.

    make fuzz MINUTES=10 SEED=1 NETS="bef host async"

`nets` says what is tried and makes a find small, `children` runs it in processes that are watched,
`__main__` is the command.  A net makes case number N of a seed without knowing the others, so
that any case can be made again.  Read `nets` first; `random_runs` has the nets of random programs, which
must do the same wherever they run, `after_passes` those of programs that passes have changed, and `explored` that of
`--explore`.
"""
