"""Write scikit-learn's handwritten digits as one file: `python prepare.py FOLDER` makes FOLDER/digits.npz."""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def main(folder: Path) -> None:
    """Split the 1,797 images, one fifth held out, always the same, and write them to the folder."""
    images, labels = load_digits(return_X_y=True)
    train_images, test_images, train_labels, test_labels = train_test_split(
        (images / 16.0).astype(np.float32), labels, test_size=0.2, random_state=0, stratify=labels
    )
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(
        folder / "digits.npz",
        train_images=train_images,
        train_labels=train_labels,
        test_images=test_images,
        test_labels=test_labels,
    )
    print(f"{folder / 'digits.npz'}: {len(train_labels)} images to train on, {len(test_labels)} held out")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python prepare.py FOLDER")
    main(Path(sys.argv[1]))
