"""Hosts that meet at one address: many, strangers between them, and one that comes twice."""

import json
import random
import socket
import struct
import threading
import time

import pytest

from training_launcher.places.meeting import Meeting, ask, gather
from training_launcher.problems import Problem

HOSTS = tuple(f"algo-{number + 1}" for number in range(40))
PATIENCE = 120.0


def free_port():
    """None from which the system lets connections begin: one of these could meet itself where nobody listens yet."""
    while True:
        port = random.randrange(10000, 30000)
        try:
            socket.create_server(("", port)).close()
        except OSError:
            continue
        return port


@pytest.fixture
def meeting():
    return Meeting(free_port(), PATIENCE, "token")


class Others:
    """Hosts in threads of their own, and what each heard."""

    def __init__(self):
        self.heard = {}
        self._threads = []

    def come(self, host, hosts, meeting):
        thread = threading.Thread(target=self._ask, args=(host, hosts, meeting), daemon=True)
        thread.start()
        self._threads.append(thread)

    def _ask(self, host, hosts, meeting):
        try:
            self.heard[host] = ask(host, hosts, "127.0.0.1", meeting)
        except Problem as problem:
            self.heard[host] = problem

    def wait(self):
        for thread in self._threads:
            thread.join(PATIENCE)
        return self.heard


def connection(port):
    """To a listener that may not listen yet."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.02)


def test_many_hosts_hear_the_same(meeting):
    others = Others()
    for host in HOSTS[1:]:
        others.come(host, HOSTS, meeting)
    addresses = gather(HOSTS, meeting)
    assert addresses == dict.fromkeys(HOSTS, "127.0.0.1")
    assert others.wait() == dict.fromkeys(HOSTS[1:], addresses)


def test_strangers_change_nothing(meeting):
    hosts, others = HOSTS[:3], Others()
    found = []
    leader = threading.Thread(target=lambda: found.append(gather(hosts, meeting)), daemon=True)
    leader.start()
    silent = connection(meeting.port)
    with connection(meeting.port) as scanner:
        scanner.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert scanner.recv(100) == b"", "sent away"
    connection(meeting.port).close()
    others.come("algo-9", hosts, meeting)
    others.come("algo-2", hosts, meeting._replace(token="another"))
    heard = others.wait()
    assert "'algo-9' is no other host of this job" in heard["algo-9"].message
    assert "algo-2 belongs to another job" in heard["algo-2"].message
    for host in hosts[1:]:
        others.come(host, hosts, meeting)
    leader.join(PATIENCE)
    assert found == [dict.fromkeys(hosts, "127.0.0.1")]
    assert {host: others.wait()[host] for host in hosts[1:]} == dict.fromkeys(hosts[1:], found[0])
    silent.close()


def test_a_host_that_comes_again_counts_once(meeting):
    hosts, found = HOSTS[:3], []
    leader = threading.Thread(target=lambda: found.append(gather(hosts, meeting)), daemon=True)
    leader.start()
    body = json.dumps({"type": "hello", "host": "algo-2", "token": "token"}).encode()
    first = connection(meeting.port)
    first.sendall(struct.pack("!I", len(body)) + body)
    others = Others()
    for host in hosts[1:]:
        others.come(host, hosts, meeting)
    leader.join(PATIENCE)
    assert found == [dict.fromkeys(hosts, "127.0.0.1")]
    first.close()


def test_everyone_hears_who_is_missing(meeting):
    hosts, others = HOSTS[:3], Others()
    others.come("algo-2", hosts, meeting)
    with pytest.raises(Problem) as missed:
        gather(hosts, meeting._replace(seconds=10.0))
    assert "algo-3 did not come" in missed.value.message
    heard = others.wait()["algo-2"]
    assert (heard.kind, heard.exit_code, heard.message) == ("host missing", 3, missed.value.message)


def test_a_port_in_use():
    with socket.create_server(("", 0)) as taken, pytest.raises(Problem, match="cannot be listened at") as problem:
        gather(HOSTS[:2], Meeting(taken.getsockname()[1], PATIENCE, "token"))
    assert problem.value.kind == "port in use"
