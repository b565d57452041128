"""Processes in different network namespaces, joined by a veth pair that the test makes, or by nothing."""

import os
import subprocess
import time
import unittest

from harness import Case, Peer


def commands(*lines):
    for line in lines:
        subprocess.run(line.split(), check=True, capture_output=True)


class Namespace:
    """A network namespace that lives as long as the process in it."""

    def __init__(self):
        self.keeper = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 1000"],
                                       stdout=subprocess.PIPE)
        self.keeper.stdout.readline()
        self.inside = ("nsenter", "-t", str(self.keeper.pid), "-n")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.keeper.kill()
        self.keeper.wait()
        self.keeper.stdout.close()

    def do(self, *lines):
        commands(*(" ".join((*self.inside, line)) for line in lines))

    def hear(self, line):
        return subprocess.run([*self.inside, *line.split()], check=True, capture_output=True,
                              text=True).stdout


def join(one, other):
    one.do(f"ip link add hw0 type veth peer name hw0 netns {other.keeper.pid}")
    for number, each in enumerate((one, other), 1):
        each.do(f"ip addr add 10.99.77.{number}/24 dev hw0", "ip link set hw0 up")
    for each in (one, other):
        for _ in range(200):  # the kernel says a little later that there is a carrier
            if "state UP" in each.hear("ip -o link show hw0"):
                break
            time.sleep(0.02)


class Namespaces(Case):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root may make network namespaces")
        try:
            with Namespace() as one, Namespace() as other:
                join(one, other)
        except (OSError, subprocess.CalledProcessError) as why:
            self.skipTest(f"no network namespaces or veth pairs here: {why}")

    def pair(self, one_ns, other_ns, tls="all"):
        return Peer(tls, one_ns.inside), Peer(tls, other_ns.inside)

    def test_tcp_over_veth_where_shared_memory_does_not_reach(self):
        with Namespace() as left, Namespace() as right:
            join(left, right)
            one, other = self.pair(left, right)
            with one, other:
                for peer in (one, other):
                    peer.init()
                one.connect(0, other)
                other.connect(0, one)
                for tag, size in ((2, 8), (4, 100000), (6, 2 << 20)):
                    self.exchange(one, 0, other, 0, tag, size)
                self.assertEqual((one.errors(0), other.errors(0)), (0, 0))
                # The kernel does not let anybody use a fresh link-local address yet; IPv4 is enough.
                self.assertEqual([line for line in one.lines(" error ") if "fe80::" not in line], [])

    def unreachable(self, left, right, words):
        one, other = self.pair(left, right)
        with one, other:
            for peer in (one, other):
                peer.init()
            one.connect(0, other)
            one.ok("send out 0 1 8 1 1")
            counts = one.wait("out")
            self.assertEqual((counts.timeout, counts.failed), (False, 1), counts)
            self.assertIn("unreachable", counts.text.lower())
            self.assertEqual(one.errors(0), 1)
            lines = one.lines("unreachable")
            self.assertEqual(len(lines), 1, one.log())
            for word in ("posix", *words):
                self.assertIn(word, lines[0])
            one.ok("close 0 force 5")
            for peer in (one, other):
                peer.ok("destroy")
                self.assertEqual(peer.quit(), 0)

    def test_nothing_between_them(self):
        with Namespace() as left, Namespace() as right:
            self.unreachable(left, right, ())

    def test_interface_down(self):
        with Namespace() as left, Namespace() as right:
            join(left, right)
            left.do("ip link set lo up", "ip link set hw0 down")
            right.do("ip link set lo up")
            self.unreachable(left, right, ("tcp",))

    def test_no_route(self):
        with Namespace() as left, Namespace() as right:
            join(left, right)
            right.do("ip addr flush dev hw0", "ip addr add 10.99.88.1/24 dev hw0")
            self.unreachable(left, right, ("tcp", "10.99.88.1"))

    def test_other_namespace_than_the_peer_thinks(self):
        """One shares the machine's namespace of processes and memory with the peer, but not its network."""
        with Namespace() as left, Namespace() as right:
            join(left, right)
            one, other = self.pair(left, right, "posix,self")
            with one, other:
                one.init()
                other.init()
                one.connect(0, other)
                one.ok("send out 0 1 8 1 1")
                self.assertEqual(one.wait("out").failed, 1)
                self.assertEqual(len(one.lines("unreachable")), 1, one.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
