"""So that this folder, zipped, is a program: ``python3 launcher.zip torchrun -- train.py``."""

from training_launcher import early_signals

if __name__ == "__main__":
    early_signals.catch()  # before the other imports take their time

    from training_launcher import zip_import

    zip_import.compile_once()

    import sys

    from training_launcher.main import main

    sys.exit(main())
