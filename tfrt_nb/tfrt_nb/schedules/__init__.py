"""Which ready step runs next is chosen: all schedules of a program, or one by hand.

`chosen` is a host whose ready kernels and tasks, and what timers, coroutines and threads bring, wait until one of them is
picked; `uses` says what a step touches, which decides whether an order matters; `explore` tries every order that may
make a difference; `memory` finds accesses of one buffer that no schedule shows, as a task runs in one piece;
`step` lets a caller pick.
"""
