"""The control channel with as many hosts as a job may have, as light clients in one process."""

from benchmarks.many_hosts import meet

HOSTS = 2048


def test_two_thousand_hosts_start_together_and_hear_of_the_first_failure() -> None:
    meeting = meet(HOSTS)
    assert meeting.going == [8 * HOSTS]
    assert meeting.ends == [[9, f"algo-{HOSTS}"]]
    assert meeting.said == ["go", "end"]
    assert meeting.megabytes < 200
