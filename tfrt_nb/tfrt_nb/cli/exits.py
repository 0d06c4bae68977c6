"""How a command ends: the status of the process."""

EXIT_OK, EXIT_PROBLEM, EXIT_USAGE = 0, 1, 2
EXIT_INTERRUPTED = 130
"""After Ctrl-C, as in a shell."""
