"""So that this folder, zipped, is a program: ``python3 launcher.zip torchrun -- train.py``."""

import sys

from training_launcher.main import main

if __name__ == "__main__":
    sys.exit(main())
