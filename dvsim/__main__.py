"""``python -m dvsim`` and the command ``dvsim``: Ctrl-C while they begin leaves no traceback."""

import sys

try:
    from dvsim.cli.main import main
except KeyboardInterrupt:
    sys.stderr.write("interrupted\n")
    sys.exit(130)

if __name__ == "__main__":
    main()
