"""An image's entry point gets its arguments from the command line, else from the environment."""

import pytest

from training_launcher.launch_arguments import VARIABLE, launch_arguments
from training_launcher.problems import Problem

FROM_ENVIRONMENT = {VARIABLE: '["torchrun", "--", "train.py", "--note", "a \\"b\\""]'}


@pytest.mark.parametrize(
    "arguments",
    [
        ["torchrun", "--", "train.py"],
        ["--help"],
        ["torchrun", "--", "main.py", "train"],
        ["train", "--", "x"],
    ],
)
def test_arguments_of_the_command_line_win_and_stay_whole(arguments: list[str]) -> None:
    assert launch_arguments(arguments, FROM_ENVIRONMENT) == arguments
    assert launch_arguments(arguments, {}) == arguments


@pytest.mark.parametrize("arguments", [[], ["train"]])
def test_none_or_the_services_word_alone_means_the_environment(arguments: list[str]) -> None:
    assert launch_arguments(arguments, FROM_ENVIRONMENT) == ["torchrun", "--", "train.py", "--note", 'a "b"']


def test_the_services_word_alone_says_where_arguments_belong() -> None:
    with pytest.raises(Problem, match=f"ContainerArguments.*{VARIABLE}"):
        launch_arguments(["train"], {})


def test_no_arguments_at_all_are_left_to_the_command_lines_own_message() -> None:
    assert launch_arguments([], {}) == []


@pytest.mark.parametrize(
    "text", ["", "torchrun -- train.py", '"torchrun"', "[]", '["torchrun", 8]', '{"kind": "torchrun"}']
)
def test_a_variable_that_is_no_list_of_strings_is_refused(text: str) -> None:
    with pytest.raises(Problem, match=f"{VARIABLE} must be a JSON list of strings"):
        launch_arguments(["train"], {VARIABLE: text})
