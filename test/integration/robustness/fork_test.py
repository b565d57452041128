"""A child that was forked after the set-up ends in various ways, and the parent must not be disturbed."""

from harness import TRANSPORTS, Case, Peer, connect


class Forks(Case):
    def test_child_disturbs_nobody(self):
        for tls in TRANSPORTS:
            for manner in ("exit", "_exit", "exec"):
                with self.subTest(tls=tls, manner=manner), Peer(tls) as parent, Peer(tls) as other:
                    before = parent.descriptors()
                    parent.init()
                    parent.ok(f"fork {manner}")
                    other.init()
                    connect(parent, other)
                    for peer, out, back in ((parent, 1, 2), (other, 2, 1)):
                        peer.ok(f"recv in {back} 20000 8 800")
                        peer.ok(f"send out 0 {out} 20000 8 800")
                    for _ in range(5):
                        parent.ok(f"fork {manner}")
                    for peer in (parent, other):
                        self.settled(peer.wait("in"), 800)
                        self.settled(peer.wait("out"), 800)
                        self.assertEqual(peer.errors(0), 0)
                    for peer in (parent, other):
                        peer.ok("close 0 force 10")
                        peer.ok("destroy")
                    self.assertEqual(parent.descriptors(), before)
                    for peer in (parent, other):
                        self.assertEqual(peer.log(), "")
                        self.assertEqual(peer.quit(), 0)
