"""Another user of the host takes the names of a worker that has ended, or connects to a running worker.

The names are public: the abstract names of Unix sockets are in /proc/net/unix, ports in /proc/net/tcp. So the owner of
a name need not be the worker. No message of a worker may reach another process, and an endpoint to a worker that has
ended must fail, even if another process listens at its name."""

import os
import socket
import struct
import unittest

from harness import Case, Peer, connect, init, started
from impostor import Impostor
from sockets import abstract_names, tcp_ports

VICTIM, STRANGER = 40001, 40002
MESSAGE = 5000


def as_user(user):
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")


@unittest.skipIf(os.geteuid() != 0, "only root can run processes of two users")
class Successors(Case):
    """A sender holds the address of a worker that has ended."""

    def deceive(self, tls, impostor_user, sender_user=VICTIM, with_ports=False):
        with Peer(tls, as_user(sender_user)) as sender, Peer(tls, as_user(VICTIM)) as gone:
            init(sender, gone)
            names = abstract_names(gone.pid, "hawser-posix-")
            ports = tcp_ports(gone.pid)
            self.assertEqual(len(names), 1)
            gone.process.kill()
            gone.process.wait()
            impostor = Impostor(impostor_user, names, ports if with_ports else ())
            sender.connect(0, gone)
            sender.ok(f"send out 0 7 {MESSAGE} 1 1")
            counts = sender.wait("out")
            found = impostor.found()
            self.assertEqual((counts.timeout, counts.failed), (False, 1),
                             f"{counts}; log:\n{sender.log()}")
            self.assertEqual(sender.errors(0), 1)
            self.assertGreaterEqual(found["connections"], 1, "the impostor was not even asked")
            self.assertEqual(found["descriptors"], 0)
            return sender.log(), found

    def test_another_user(self):
        log, found = self.deceive("posix,self", STRANGER)
        self.assertEqual(found["bytes"], 0)
        self.assertEqual(log.count("belongs to pid"), 1, log)
        self.assertIn(f"of user {STRANGER}", log)

    def test_same_user(self):
        log, found = self.deceive("posix,self", VICTIM)
        self.assertEqual(found["bytes"], 0)
        self.assertEqual(log.count("belongs to pid"), 1, log)

    def test_sender_is_root(self):
        log, found = self.deceive("posix,self", STRANGER, sender_user=0)
        self.assertEqual(found["bytes"], 0)
        self.assertIn(f"of user {STRANGER}", log)

    def test_another_user_with_the_ports_as_well(self):
        """The relay over TCP must not carry any proof or identity of the sender."""
        _, found = self.deceive("posix,tcp,self", STRANGER, with_ports=True)
        self.assertLess(found["bytes"], 200, "more than a challenge went to a stranger")


@unittest.skipIf(os.geteuid() != 0, "only root can run processes of two users")
class Neighbours(Case):
    """Another user connects to the sockets of a running worker."""

    def test_names_of_a_living_worker(self):
        with started("posix,self", as_user(VICTIM)) as (one, other):
            name = abstract_names(one.pid, "hawser-posix-")[0]
            child = os.fork()
            if child == 0:
                os.setresuid(STRANGER, STRANGER, STRANGER)
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
                    stranger.settimeout(30)
                    stranger.connect("\0" + name[1:])
                    said = stranger.recv(64)
                    # Exactly one goodbye must have arrived.
                    os._exit(0 if len(said) == 8 and stranger.recv(64) == b"" else 1)
            one.ok("progress 0.2")
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)
            self.assertEqual(len(one.lines("it belongs to user")), 1, one.log())
            connect(one, other)
            self.exchange(one, 0, other, 0, 10)

    def test_descriptors_that_are_closed_slowly(self):
        """Closing a TCP socket with a long linger time blocks. The worker must not be the process that closes it
        last."""
        with started("posix,self", as_user(VICTIM)) as (one, other):
            with Trap(STRANGER, abstract_names(one.pid, "hawser-posix-")[0]):
                one.ok("progress 0.2")
                self.assertEqual(len(one.lines("it belongs to user")), 1, one.log())
                connect(one, other)
                self.exchange(one, 0, other, 0, 10)

    def test_closing_while_such_a_descriptor_waits(self):
        for prefix in ("hawser-vfs-", "hawser-posix-"):
            with started("posix,self", as_user(VICTIM), count=1) as (one,):
                one.ok("idle")
                with Trap(STRANGER, abstract_names(one.pid, prefix)[0]):
                    one.ok("destroy")


class Trap:
    """Connects as that user and sends a TCP socket that lingers for an hour. The receiver then has the only copy."""

    REFUSED = 3

    def __init__(self, user, name):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            sender = socket.create_connection(listener.getsockname())
            self.receiver = listener.accept()[0]
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
        sender.setblocking(False)
        try:
            while True:
                sender.send(bytes(65536))
        except BlockingIOError:
            pass
        child = os.fork()
        if child == 0:
            os.setresuid(user, user, user)
            os._exit(self.send(name, sender))  # exits without closing, so that it does not wait
        result = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if result == self.REFUSED:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
        elif result != 0:
            raise AssertionError("the stranger cannot send")
        sender.close()

    def send(self, name, descriptor):
        stranger = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stranger.connect("\0" + name[1:])
        try:
            socket.send_fds(stranger, [b"x"], [descriptor.fileno()])
        except PermissionError:
            return self.REFUSED  # refused by the kernel, at the worker's request (since Linux 6.16)
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.receiver.close()
