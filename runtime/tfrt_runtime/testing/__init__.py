"""What tests of kernels, queues and the core need; nothing else imports it.

`leaks` counts what is alive.  `explorer` and `simulated_host` run native functions in every order;
`simulated_program` decodes programs and `simulated_coroutines` has compiled code's functions there.
`hand_cranked` is a work queue whose tasks the test runs one by one.  `random_programs` writes host
programs from a seed, `btf_files` writes files of tensors.
"""
