"""Processes under test, always with a time limit, and functions that several suites share."""

import contextlib
import os
import re
import select
import subprocess
import tempfile
import time
import unittest

from processes import clean

PEER = os.environ["PEER_PROGRAM"]
INFO = os.environ["INFO_PROGRAM"]
PERFTEST = os.environ["PERFTEST_PROGRAM"]
LIMIT = 60  # seconds for any reply
TRANSPORTS = ("posix,self", "sm,self", "tcp,self")
LOG_LINE = re.compile(r"^\[\d+\.\d+\] \[[^\]]+\] ", re.M)


def environment(settings):
    """Returns the environment without UCX_ variables that the caller's shell may have set, and with these settings."""
    return clean("UCX_", **settings)


def run(program, *arguments, wrap=(), **settings):
    return subprocess.run([*wrap, program, *arguments], capture_output=True, text=True,
                          timeout=LIMIT, env=environment(settings), check=False)


class Peer:
    """A process that executes commands, see peer.h. The end of the `with` block kills it if it still runs."""

    def __init__(self, tls, wrap=(), **settings):
        self.log_file = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(
            [*wrap, PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log_file,
            env=environment({"UCX_TLS": tls, **settings}))
        self.tls = tls
        self.pid = self.process.pid
        self.unread = b""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # the process ended without reading the last command
        self.process.stdout.close()
        self.log_file.close()

    def log(self):
        self.log_file.seek(0)
        return self.log_file.read()

    def lines(self, word=""):
        """The log lines that contain the word."""
        return [line for line in self.log().splitlines() if word in line]

    def tell(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, limit=LIMIT):
        end = time.monotonic() + limit
        while b"\n" not in self.unread:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise AssertionError(f"no answer within {limit} s; log:\n{self.log()}")
            got = os.read(self.process.stdout.fileno(), 65536)
            if not got:
                self.process.wait()
                raise AssertionError(
                    f"the process ended with {self.process.returncode}; log:\n{self.log()}")
            self.unread += got
        line, _, self.unread = self.unread.partition(b"\n")
        return line.decode()

    def ask(self, command, limit=LIMIT):
        self.tell(command)
        return self.hear(limit)

    def ok(self, command, limit=LIMIT):
        """Sends a command that must succeed; returns the reply without its first word."""
        answer = self.ask(command, limit)
        if not answer.startswith("ok"):
            raise AssertionError(f"{command[:60]}: {answer}; log:\n{self.log()}")
        return answer[3:]

    def init(self):
        self.ok("init")
        self.address = self.ok("address").strip()
        return self

    def connect(self, number, to, mode="peer"):
        self.ok(f"ep {number} {mode} {to.address}")

    def state(self, channel):
        return Counts(self.ask(f"state {channel}"))

    def wait(self, channel, seconds=LIMIT / 2):
        return Counts(self.ask(f"wait {channel} {seconds}"))

    def errors(self, endpoint):
        return int(self.ok(f"errors {endpoint}").split()[0])

    def lanes(self, endpoint):
        """The transports and devices of an endpoint."""
        return self.ok(f"lanes {endpoint}").split()

    def descriptors(self):
        return sorted(self.ok("fds").split()[1:])

    def leave_descriptors(self, spare):
        """Lowers the limit so that the library can open `spare` more descriptors. The library leaves half of a small
        limit to the program, so the limit is twice as high."""
        open_ones = int(self.ok("fds").split()[0])
        self.ok(f"limit nofile {2 * (open_ones + spare)}")

    def quit(self):
        self.ok("quit")
        return self.process.wait(LIMIT)


def init(*peers):
    for peer in peers:
        peer.init()


@contextlib.contextmanager
def started(tls, wrap=(), count=2, **settings):
    """Peers of one kind, each with a context and a worker."""
    with contextlib.ExitStack() as ends:
        peers = [ends.enter_context(Peer(tls, wrap, **settings)) for _ in range(count)]
        init(*peers)
        yield peers


def need_private_mounts(case):
    """Skips the test, with the reason, if a process cannot have mounts of its own."""
    try:
        subprocess.run(["unshare", "-m", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as why:
        case.skipTest(f"no private mounts here: {why}")


def connect(one, other, mode="peer"):
    """Makes endpoint 0 of each of two processes, which leads to the other one."""
    one.connect(0, other, mode)
    other.connect(0, one, mode)


def both_ways(one, other, size, window, count):
    """Each of two processes sends messages to the other one through endpoint 0, and receives as many."""
    for peer, out, back in ((one, 1, 2), (other, 2, 1)):
        peer.ok(f"recv in {back} {size} {window} {count}")
        peer.ok(f"send out 0 {out} {size} {window} {count}")


class Counts:
    """The counts of a channel's messages, read from a reply of the peer."""

    def __init__(self, text):
        self.text = text
        self.timeout = text.startswith("timeout")
        values = dict(re.findall(r"(\w+)=(\d+)", text))
        self.open, self.succeeded, self.failed, self.wrong = (
            int(values[name]) for name in ("open", "succeeded", "failed", "wrong"))

    def __repr__(self):
        return self.text


class Case(unittest.TestCase):
    def settled(self, counts, succeeded):
        """Checks that all messages were delivered once, in order and undamaged."""
        self.assertEqual((counts.timeout, counts.open, counts.succeeded, counts.failed,
                          counts.wrong), (False, 0, succeeded, 0, 0), counts)

    def all_came(self, count, *peers):
        """Checks the messages of `both_ways`."""
        for peer in peers:
            self.settled(peer.wait("in"), count)
            self.settled(peer.wait("out"), count)
            self.assertEqual(peer.errors(0), 0)

    def leave(self, *peers, before=None):
        """Ends the peers, each of which has endpoint 0. The first one must then have its earlier descriptors again."""
        for peer in peers:
            peer.ok("close 0 force 10")
            peer.ok("destroy")
        if before is not None:
            self.assertEqual(peers[0].descriptors(), before)
        for peer in peers:
            self.assertEqual(peer.quit(), 0, peer.log())

    def exchange(self, one, one_ep, other, other_ep, tag, size=3000, count=20):
        """Sends messages in both directions and checks them."""
        name = f"x{tag}"
        for peer, endpoint, send_tag, receive_tag in ((one, one_ep, tag, tag + 1),
                                                      (other, other_ep, tag + 1, tag)):
            peer.ok(f"recv {name}r {receive_tag} {size} 4 {count}")
            peer.ok(f"send {name}s {endpoint} {send_tag} {size} 4 {count}")
        for peer in (one, other):
            self.settled(peer.wait(f"{name}s"), count)
            self.settled(peer.wait(f"{name}r"), count)

    def client_talks(self, client, server, port):
        """Makes an endpoint of the client to a listener's port, and sends messages to the server."""
        client.ok(f"reach 0 {port}")
        server.ok("recv in 1 5000 4 20")
        client.ok("send out 0 1 5000 4 20")
        self.settled(client.wait("out"), 20)
        self.settled(server.wait("in"), 20)

    def exchange_sizes(self, one, other, *sizes):
        """Messages of each size between two processes, whose endpoints 0 must notice no error."""
        for number, size in enumerate(sizes, 1):
            self.exchange(one, 0, other, 0, 2 * number, size)
        self.assertEqual((one.errors(0), other.errors(0)), (0, 0))
