"""Strangers connect to the port of a worker's tcp interface, and to the port of its listener."""

import random
import socket
import struct

from harness import Case, Peer, connect, started
from limits import allow_descriptors, memory, seeds
from sockets import tcp_ports
from strangers import Stranger

KEY = "a job key of more than 16 characters"
MOST = 256 + 8  # connections that have not identified themselves
WAITING = 1024  # connections of a crowd that begin to prove a job key
MEMORY = 8 << 20
CHALLENGE = 4  # kind of greeting


def greeting(sender, receiver, terms=0):
    """The greeting of an interface (uct/tcp/wire.hpp)."""
    return b"HWSRTCP1" + struct.pack("<HHIQQII", 4, 1, 1, sender, receiver, 0, terms) + random.randbytes(16)


class Attacked(Case):
    def check_bounded(self, peer, before, most=MOST):
        self.assertLessEqual(len(peer.descriptors()), before[0] + most)
        self.assertLess(memory(peer.pid), before[1] + MEMORY)

    def rest_of(self, peer):
        """The worker's resources after all connections have ended."""
        peer.ok("progress 0.1")
        return len(peer.descriptors()), memory(peer.pid)

    def check_after(self, peer, before):
        for _ in range(300):  # the last closed connections are noticed in progress
            if len(peer.descriptors()) <= before[0]:
                break
            peer.ok("progress 0.1")
        self.assertLessEqual(len(peer.descriptors()), before[0])
        self.assertLess(memory(peer.pid), before[1] + MEMORY)
        self.assertEqual(peer.lines(" error "), [])


class InventedIds(Attacked):
    def test_three_thousand_are_not_kept_and_a_peer_gets_through(self):
        allow_descriptors(self, 3300)
        with started("tcp,self") as (one, other):
            port = next(point for point in tcp_ports(one.pid) if point[0] == "127.0.0.1")[1]
            # The id of the interface is in its address and is not secret.
            number_of_one = self.id_of(one, port)
            before = self.rest_of(one)
            crowd = []
            for number in range(3000):
                stranger = socket.create_connection(("127.0.0.1", port), timeout=60)
                stranger.sendall(greeting(number + 1, number_of_one))
                crowd.append(stranger)
                if number % 50 == 0:
                    one.ok("progress 0.01")
                    self.check_bounded(one, before)
            connect(other, one)
            self.exchange(other, 0, one, 0, 2)
            self.check_bounded(one, (before[0] + 2, before[1]))
            for stranger in crowd:
                stranger.close()
            self.assertEqual((one.errors(0), other.errors(0)), (0, 0))

    def id_of(self, peer, port):
        """One of the 64-bit numbers in its address is the id. Only the id is answered with a challenge."""
        packed = bytes.fromhex(peer.address)
        for offset in range(len(packed) - 7):
            number = struct.unpack_from("<Q", packed, offset)[0]
            with socket.create_connection(("127.0.0.1", port), timeout=60) as probe:
                probe.sendall(greeting(1, number))
                peer.ok("progress 0.005")
                answer = probe.recv(40, socket.MSG_WAITALL)
            if len(answer) == 40 and answer[10] == CHALLENGE:
                return number
        raise AssertionError("no number in the address is the id of the interface")


class Transport(Attacked):
    def test_a_pair_talks_meanwhile(self):
        for seed in seeds():
            for key in ({}, {"UCX_JOB_KEY": KEY}):
                with self.subTest(seed=seed, key=key), started("tcp,self", **key) as (one, other):
                    self.attacked(seed, one, other)

    def attacked(self, seed, one, other):
        connect(one, other)
        self.exchange(one, 0, other, 0, 2)
        port = next(point for point in tcp_ports(one.pid) if point[0] == "127.0.0.1")[1]
        recordings = [greeting(7, 8), greeting(9, 10, 1), b"HWSO\2\1\1\0" + bytes(16)]
        before = self.rest_of(one)
        with Stranger(port, recordings, seed) as stranger:
            for tag in range(4, 50, 2):
                self.exchange(one, 0, other, 0, tag, count=300)
                self.check_bounded(one, before)
                if stranger.made >= 600:
                    break
        self.check_after(one, before)
        self.assertEqual((one.errors(0), other.errors(0)), (0, 0))


class Listener(Attacked):
    HELLO = b"HWSO\2\1\1\0"  # of a client with a job key; a nonce follows

    def reached(self, server, client, port):
        """The client connects, and both exchange messages."""
        self.client_talks(client, server, port)
        self.assertEqual((client.errors(0), client.lines()), (0, []))

    def crowded(self, said, key, size=3000, most=MOST):
        """Many strangers send only these bytes; at most `most` connections are kept."""
        allow_descriptors(self, 3300)
        # The strangers have no deadline of their own that would end them.
        settings = {**key, "UCX_CM_TIMEOUT": "600s"}
        with started("tcp,self", **settings) as (server, client):
            port = int(server.ok("listen"))
            before = self.rest_of(server)
            crowd = []
            for number in range(size):
                stranger = socket.create_connection(("127.0.0.1", port), timeout=60)
                if said:
                    stranger.sendall(said + random.randbytes(16))
                crowd.append(stranger)
                if number % 50 == 0:
                    server.ok("progress 0.001")
                    self.check_bounded(server, before, most)
            self.reached(server, client, port)
            self.check_bounded(server, (before[0] + 2, before[1]), most)
            for stranger in crowd:
                stranger.close()

    def test_three_thousand_silent_ones(self):
        self.crowded(b"", {})

    def test_three_thousand_silent_ones_with_a_job_key(self):
        self.crowded(b"", {"UCX_JOB_KEY": KEY})

    def test_many_that_begin_to_prove_a_job_key(self):
        # Fewer strangers, because the client has the same address. About a hundred connections of one address have a
        # turn at a time, each for a quarter of a second.
        self.crowded(self.HELLO, {"UCX_JOB_KEY": KEY}, 800, MOST + WAITING)

    def test_clients_come_and_talk_while_it_is_attacked(self):
        request = b"HWCM" + struct.pack("<HBBII", 1, 1, 0, 300, 0) + random.randbytes(300)
        for seed in seeds():
            for key in ({}, {"UCX_JOB_KEY": KEY}):
                with self.subTest(seed=seed, key=key), started("tcp,self", **key, count=1) as (server,):
                    port = int(server.ok("listen"))
                    before = self.rest_of(server)
                    recordings = [request, self.HELLO + random.randbytes(16), b"HWSO\2\1\0\0" + bytes(16)]
                    with Stranger(port, recordings, seed) as stranger:
                        for _ in range(5):
                            with Peer("tcp,self", **key) as client:
                                self.reached(server, client.init(), port)
                                client.ok("close 0 force 10")
                                client.ok("destroy")
                            self.check_bounded(server, before)
                        while stranger.made < 300:
                            server.ok("progress 0.01")
                            self.check_bounded(server, before)
                    server.ok("progress 0.1")
                    self.assertEqual(server.lines(" error "), [])
                    self.assertLess(len(server.lines()), 60, server.log())
