"""The command line: `tfrt-nb run`, `tfrt-nb opt`, and others.

The package builds on everything else in `tfrt_nb`. `main` contains the arguments and the table of
commands. `files` contains input, output, and exit statuses. `running` contains the commands that
run programs. The other commands are modules: `translate` (to BEF and back), `opt`, `grade` with
`graded` (the process that `grade` starts), `tutorials`, `share`, and `lsp` (a language server).
`expectations` compares errors with `expected-error` comments, and `examples` runs programs whose
output the documentation shows.
"""

from tfrt_nb.cli.main import main

__all__ = ["main"]
