"""``python -m kernelm.app.cli``: the command without its script."""

from kernelm.app.cli import main

if __name__ == "__main__":
    main()
