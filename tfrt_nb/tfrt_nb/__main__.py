"""Run the command line: `python -m tfrt_nb`."""

import sys

from tfrt_nb.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
