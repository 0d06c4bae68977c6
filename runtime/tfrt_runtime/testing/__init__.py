"""What tests of kernels, queues and the core need; nothing else imports it.

`leaks` counts what is alive.  `explorer` and `simulated_host` run native functions in every order.
`hand_cranked` is a work queue whose tasks the test runs one by one.  `random_programs` writes host
programs from a seed.
"""
