"""Run the command line by `python -m alignkit`."""

import sys

from alignkit.cli import main

sys.exit(main())
