"""The command line: `tfrt-nb run | bench | mlir-to-bef | bef-to-mlir | opt | grade | tutorials`.

Stands on everything else in `tfrt_nb`.  Read `main` (arguments to commands) and `exits` (its status), then a module for each command:
`run` (`run_compiled` for compiled functions, `schedules` for `--explore`, `--replay` and `--step`, `tracing` and
`following` for traces, `progress` for a terminal), `bench`, `translate`, `disassemble`, `opt`, `grade`, `tutorials`.  `files` reads
input, `known_texts` takes the BEF of a text from the cache, `expectations` compares errors with `expected-error` comments, `examples` runs programs whose output is shown.
"""

from tfrt_nb.cli.main import main

__all__ = ["main"]
