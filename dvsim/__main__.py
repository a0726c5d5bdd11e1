"""``python -m dvsim`` is ``dvsim``."""

from dvsim.cli.main import main

if __name__ == "__main__":
    main()
