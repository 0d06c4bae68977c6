"""Controlled scheduling: explore every schedule of a program, or step through one by hand.

A schedule is an order of steps. A step is a ready kernel, a ready task, or an arrival from a timer,
a coroutine, or a thread.

- `chosen` is a host on which each ready step waits until it is picked.
- `uses` determines the places that a step touches, which decide whether an order matters.
- `explore` tries every order that may make a difference, and `outcomes` contains its results.
- `memory` finds tasks that race on a buffer, even if every order has the same outcome.
- `step` lets a caller pick the steps.
"""
