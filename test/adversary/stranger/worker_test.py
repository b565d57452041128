"""Strangers at the port of a worker's tcp interface."""

import random
import socket
import struct
import unittest

from harness import Case, Peer
from limits import allow_descriptors, memory, seeds
from sockets import tcp_ports
from strangers import Stranger

KEY = "a job key of more than 16 characters"
MOST = 256 + 8  # connections that have not identified themselves
MEMORY = 8 << 20
CHALLENGE = 4  # kind of greeting


def greeting(sender, receiver, terms=0):
    """What an interface says first (uct/tcp/wire.hpp)."""
    return b"HWSRTCP1" + struct.pack("<HHIQQII", 2, 1, 1, sender, receiver, 0, terms) + random.randbytes(16)


class Attacked(Case):
    def check_bounded(self, peer, before):
        self.assertLessEqual(len(peer.descriptors()), before[0] + MOST)
        self.assertLess(memory(peer.pid), before[1] + MEMORY)

    def rest_of(self, peer):
        """What it has when all who came are gone."""
        peer.ok("progress 0.1")
        return len(peer.descriptors()), memory(peer.pid)

    def check_after(self, peer, before):
        for _ in range(300):  # those that were closed last are noticed in progress
            if len(peer.descriptors()) <= before[0]:
                break
            peer.ok("progress 0.1")
        self.assertLessEqual(len(peer.descriptors()), before[0])
        self.assertLess(memory(peer.pid), before[1] + MEMORY)
        self.assertEqual(peer.lines(" error "), [])


class InventedIds(Attacked):
    def test_three_thousand_are_not_kept_and_a_peer_gets_through(self):
        allow_descriptors(self, 3300)
        with Peer("tcp,self") as one, Peer("tcp,self") as other:
            one.init()
            other.init()
            port = next(point for point in tcp_ports(one.pid) if point[0] == "127.0.0.1")[1]
            # The id of the interface stands in its address, and is no secret.
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
            other.connect(0, one)
            one.connect(0, other)
            self.exchange(other, 0, one, 0, 2)
            self.check_bounded(one, (before[0] + 2, before[1]))
            for stranger in crowd:
                stranger.close()
            self.assertEqual((one.errors(0), other.errors(0)), (0, 0))

    def id_of(self, peer, port):
        """One of the numbers of 64 bits in its address is the id; only that one is answered with a challenge."""
        packed = bytes.fromhex(peer.address)
        for at in range(len(packed) - 7):
            number = struct.unpack_from("<Q", packed, at)[0]
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
                with self.subTest(seed=seed, key=key), Peer("tcp,self", **key) as one, Peer("tcp,self", **key) as other:
                    self.attacked(seed, one.init(), other.init())

    def attacked(self, seed, one, other):
        one.connect(0, other)
        other.connect(0, one)
        self.exchange(one, 0, other, 0, 2)
        port = next(point for point in tcp_ports(one.pid) if point[0] == "127.0.0.1")[1]
        recordings = [greeting(7, 8), greeting(9, 10, 1), b"HWSO\1\1\1\0" + bytes(16)]
        before = self.rest_of(one)
        with Stranger(port, recordings, seed) as stranger:
            for tag in range(4, 50, 2):
                self.exchange(one, 0, other, 0, tag, count=300)
                self.check_bounded(one, before)
                if stranger.made >= 600:
                    break
        self.check_after(one, before)
        self.assertEqual((one.errors(0), other.errors(0)), (0, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
