"""Processes in different network namespaces, which a veth pair joins, or nothing."""

from harness import Case, Peer, connect, init
from namespaces import Namespace, join, skip_without_namespaces


class Namespaces(Case):
    def setUp(self):
        skip_without_namespaces(self)

    def pair(self, one_ns, other_ns, tls="all"):
        return Peer(tls, one_ns.inside), Peer(tls, other_ns.inside)

    def test_tcp_over_veth_where_shared_memory_does_not_reach(self):
        with Namespace() as left, Namespace() as right:
            join(left, right)
            one, other = self.pair(left, right)
            with one, other:
                init(one, other)
                connect(one, other)
                self.exchange_sizes(one, other, 8, 100000, 2 << 20)
                # A fresh link-local IPv6 address is unusable for some time; IPv4 suffices.
                self.assertEqual([line for line in one.lines(" error ") if "fe80::" not in line], [])

    def unreachable(self, left, right, words):
        one, other = self.pair(left, right)
        with one, other:
            init(one, other)
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

    def over_the_other_interface(self, broken, before_init, *lines):
        """Two paths lead to the peer, and the settings break one on the left. Messages must use the other one."""
        working = "hw1" if broken == "hw0" else "hw0"
        with Namespace() as left, Namespace() as right:
            join(left, right, "hw0", "10.99.77")
            join(left, right, "hw1", "10.99.78")
            one, other = self.pair(left, right, "tcp,self")
            with one, other:
                other.init()
                if before_init:
                    left.do(*lines)
                one.init()
                if not before_init:
                    left.do(*lines)
                connect(one, other)
                self.exchange_sizes(one, other, 8, 100000)
                self.assertEqual(one.lanes(0), [f"tcp/{working}"], one.log())
                self.assertEqual(other.lanes(0), [f"tcp/{working}"], other.log())

    def test_one_of_two_interfaces_is_down(self):
        for broken in ("hw0", "hw1"):
            for before_init in (True, False):
                with self.subTest(broken=broken, before_init=before_init):
                    self.over_the_other_interface(broken, before_init, f"ip link set {broken} down")

    def test_one_of_two_interfaces_has_no_route(self):
        for broken, network in (("hw0", "10.99.77"), ("hw1", "10.99.78")):
            with self.subTest(broken=broken):
                self.over_the_other_interface(broken, True, f"ip addr flush dev {broken}",
                                              f"ip addr add 10.99.88.1/24 dev {broken}")

    def test_other_namespace_than_the_peer_thinks(self):
        """One process shares the peer's process ids and memory, but not its network."""
        with Namespace() as left, Namespace() as right:
            join(left, right)
            one, other = self.pair(left, right, "posix,self")
            with one, other:
                init(one, other)
                one.connect(0, other)
                one.ok("send out 0 1 8 1 1")
                self.assertEqual(one.wait("out").failed, 1)
                self.assertEqual(len(one.lines("unreachable")), 1, one.log())
