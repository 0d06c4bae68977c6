"""The command line: `tfrt-nb run | bench | mlir-to-bef | bef-to-mlir | opt | grade | tutorials |
share | lsp`.

Builds on everything else in `tfrt_nb`.  Read `main` (arguments and commands) and `files` (input,
and exit statuses), then the commands.  `running` has the commands that run programs; the other
commands are modules: `translate` (to BEF and back), `opt`, `grade` with `graded` (the process that
it starts), `tutorials`, `share`, `lsp` (a language server).  `expectations` compares errors with
`expected-error` comments, and `examples` runs programs whose output the documentation shows.
"""

from tfrt_nb.cli.main import main

__all__ = ["main"]
