"""Which GPU belongs to a rank."""

import pytest

from training_launcher.torch.cuda_index import cuda_index
from training_launcher.torch.errors import ProcessGroupError


@pytest.mark.parametrize(
    ("environment", "device_count", "index"),
    [
        ({"LOCAL_RANK": "0"}, 8, 0),
        ({"LOCAL_RANK": "7"}, 8, 7),
        ({"LOCAL_RANK": "7", "CUDA_VISIBLE_DEVICES": "7"}, 1, 0),
        ({"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "4,5"}, 2, 1),
    ],
)
def test_index(environment, device_count, index):
    assert cuda_index(environment, device_count) == index


@pytest.mark.parametrize(
    ("environment", "device_count"),
    [
        ({"LOCAL_RANK": "8"}, 8),
        ({"LOCAL_RANK": "1"}, 1),
        ({"LOCAL_RANK": "2", "CUDA_VISIBLE_DEVICES": "0,1"}, 2),
    ],
)
def test_more_ranks_than_gpus_are_refused(environment, device_count):
    with pytest.raises(ProcessGroupError, match="has no GPU of its own: the process sees"):
        cuda_index(environment, device_count)
