"""The command line: `tfrt-nb run | mlir-to-bef | bef-to-mlir`."""

from tfrt_nb.cli.main import main

__all__ = ["main"]
