"""A stranger connects to a worker's sockets and sends garbage while messages flow."""

import random
import socket

from harness import Case, Peer, both_ways, connect, init
from sockets import abstract_names, tcp_ports

NONSENSE = (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" * 3, b"\0" * 100, b"HWSRTCP1" + b"\xff" * 100,
            b"HSWR" + b"\xff" * 36, b"")


class Strangers(Case):
    def pair_under_attack(self, tls, attack, complains=True):
        with Peer(tls) as one, Peer(tls) as other:
            before = one.descriptors()
            init(one, other)
            connect(one, other)
            both_ways(one, other, 5000, 8, 3000)
            visits = attack(one)
            one.ok("progress 0.2")
            self.all_came(3000, one, other)
            self.assertEqual(one.lines(" error "), [])
            if complains:
                self.assertGreaterEqual(len(one.lines()), 1)
            self.assertLessEqual(len(one.lines()), visits if complains else 0, one.log())
            self.assertEqual(other.log(), "")
            self.leave(one, other, before=before)

    def test_tcp_port(self):
        def attack(peer):
            visits = 0
            points = tcp_ports(peer.pid)
            self.assertGreater(len(points), 0)
            for point in points:
                for text in (*NONSENSE, random.Random(3).randbytes(100000)):
                    with socket.create_connection(point, timeout=10) as stranger:
                        visits += 1
                        try:
                            stranger.sendall(text)
                            stranger.settimeout(5)
                            if text:
                                stranger.recv(1)
                        except OSError:
                            pass  # the connection was closed, as expected
            return visits

        self.pair_under_attack("tcp,self", attack)

    def talk_nonsense_at(self, beginning):
        def attack(peer):
            names = abstract_names(peer.pid, beginning)
            self.assertEqual(len(names), 1)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wrong_kind:
                self.assertRaises(OSError, wrong_kind.connect, "\0" + names[0][1:])
            for text in (*NONSENSE, b"x" * 60000):
                for descriptor in (False, True):
                    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
                        stranger.settimeout(5)
                        stranger.connect("\0" + names[0][1:])
                        try:
                            if descriptor:
                                socket.send_fds(stranger, [text or b"x"], [0, 1, 2, 0, 1, 2])
                            else:
                                stranger.send(text)
                            if text:
                                stranger.recv(8)
                        except OSError:
                            pass
            return 2 * (len(NONSENSE) + 1)

        return attack

    def test_abstract_socket(self):
        self.pair_under_attack("posix,self", self.talk_nonsense_at("hawser-posix-"))

    def test_socket_for_ucx_vfs(self):
        self.pair_under_attack("posix,self", self.talk_nonsense_at("hawser-vfs-"), False)
