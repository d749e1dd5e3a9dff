"""Which hyperparameters travel in a file."""

from cdk_distributed_training.request.hyperparameters import split_hyperparameters
from cdk_distributed_training.tokens import known

TOKEN = "${Token[TOKEN.1]}"


def split(values):
    return split_hyperparameters(values, known=known)


def test_what_fits_stays():
    values = {f"n{number}": "x" * 2500 for number in range(100)}
    assert split(values) == (values, {})


def test_long_ones_go():
    assert split({"a": "1", "b": "x" * 2501}) == ({"a": "1"}, {"b": "x" * 2501})


def test_the_last_ones_go():
    kept, spilled = split({f"n{number}": "1" for number in range(103)})
    assert (len(kept), sorted(spilled)) == (100, ["n100", "n101", "n102"])


def test_long_ones_leave_room_for_others():
    kept, spilled = split({"long": "x" * 2501, **{f"n{number}": "1" for number in range(100)}})
    assert (len(kept), list(spilled)) == (100, ["long"])


def test_tokens_stay_and_take_room():
    kept, spilled = split({**{f"n{number}": "1" for number in range(100)}, "token": TOKEN, "long": TOKEN + "x" * 3000})
    assert "token" in kept
    assert "long" in kept
    assert (len(kept), sorted(spilled)) == (100, ["n98", "n99"])
