"""Controlled scheduling: explore every schedule of a program, or step through one by hand.

`chosen` is a host on which ready kernels and tasks, and arrivals from timers, coroutines, and
threads, wait until one of them is picked. `uses` determines the places that a step touches, which
decide whether an order matters. `explore` tries every order that may make a difference, and
`outcomes` has its results. `memory` finds tasks that race for a buffer, even if every order has the
same outcome. `step` lets a caller pick.
"""
