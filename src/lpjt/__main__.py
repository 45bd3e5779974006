"""``python -m lpjt``: the command line without its script."""

from lpjt.cli import main

if __name__ == "__main__":
    main()
