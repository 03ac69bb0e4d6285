"""`python -m akjax.demo` is `akjax demo`."""

import sys

from akjax.demo.cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", *sys.argv[1:]]))
