"""`python -m tfrt_nb` is the command line."""

import sys

from tfrt_nb.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
