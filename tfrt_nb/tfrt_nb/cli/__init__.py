"""The command line: `tfrt-nb run | mlir-to-bef | bef-to-mlir | opt | grade | tutorials`."""

from tfrt_nb.cli.main import main

__all__ = ["main"]
