"""Run the command line by `python -m alignkit`."""

import sys

from alignkit.cli import main

if __name__ == "__main__":
    sys.exit(main())
