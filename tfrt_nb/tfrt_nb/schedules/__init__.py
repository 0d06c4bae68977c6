"""Which ready step runs next is chosen: all schedules of a program, or one by hand.

`chosen` is a host whose ready kernels and tasks, and what timers, coroutines and threads bring,
wait until one of them is picked; `uses` says what a step touches, which decides whether an order
matters; `explore` tries every order that may make a difference; `memory` finds races of tasks for a
buffer, also where each order has the same outcome; `step` lets a caller pick.
"""
