"""A child that was forked after the set-up ends in various ways, and the parent must not be disturbed."""

from harness import TRANSPORTS, Case, Peer, both_ways, connect


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
                    both_ways(parent, other, 20000, 8, 800)
                    for _ in range(5):
                        parent.ok(f"fork {manner}")
                    self.all_came(800, parent, other)
                    self.leave(parent, other, before=before)
                    self.assertEqual((parent.log(), other.log()), ("", ""))
