"""The network between two hosts is cut, or one host restarts, while operations of every family are in flight."""

from harness import Peer, connect, init, started
from namespaces import Namespace, await_carrier, join, skip_without_namespaces
from pending_test import PendingCase, holdings

VICTIM = 1
# Keepalive is the kernel's on idle connections, and the library's if operations are in flight.
QUICK = {"UCX_KEEPALIVE_INTERVAL": "2s", "UCX_TCP_KEEPIDLE": "1s", "UCX_TCP_KEEPINTVL": "1s", "UCX_TCP_KEEPCNT": "2",
         "UCX_TCP_AF_PRIO": "inet"}
NEVER = {"UCX_KEEPALIVE_INTERVAL": "inf", "UCX_TCP_KEEPIDLE": "inf", "UCX_TCP_AF_PRIO": "inet"}


class Cuts(PendingCase):
    def setUp(self):
        skip_without_namespaces(self)

    def pair(self, settings, during):
        """Calls `during` with both hosts and both processes. Another pair of processes must continue all the time."""
        with Namespace() as left, Namespace() as right:
            left.do("ip link set lo up")
            join(left, right)
            with Peer("tcp,self", left.inside, **settings) as one, \
                    Peer("tcp,self", left.inside, **settings) as beside, \
                    Peer("tcp,self", right.inside, **settings) as other:
                init(one, beside, other)
                connect(one, beside)
                self.exchange(one, 0, beside, 0, 2)
                before = holdings(one)
                self.introduce(one, other, VICTIM, 0)
                during(left, right, one, other)
                one.ok(f"close {VICTIM} force 10")
                one.ok("progress 0.01")
                self.assertEqual(holdings(one), before, one.log())
                self.exchange(one, 0, beside, 0, 6)
                self.assertEqual((one.errors(0), len(one.lines("was lost"))), (0, 1), one.log())
                self.successor(right, one, settings)
                self.leave(one, beside)

    def successor(self, right, one, settings):
        with started("tcp,self", right.inside, **settings, count=1) as (fresh,):
            one.connect(VICTIM + 1, fresh)
            fresh.connect(0, one)
            self.exchange(one, VICTIM + 1, fresh, 0, 10)
            one.ok(f"close {VICTIM + 1} force 10")

    def await_error(self, peer, number):
        for _ in range(1000):
            if peer.errors(number):
                break
            peer.ok("progress 0.02")
        self.assertEqual(peer.errors(number), 1, peer.log())

    def mend(self, left, right):
        right.do("ip link set hw0 up")
        await_carrier("hw0", left, right)

    def ended(self, one, before, words):
        self.all_ended(one, VICTIM, before)
        self.refused_from_now_on(one, VICTIM)
        self.assertRegex(one.log(), words)
        one.ok("touch")

    def test_link_taken_down_with_operations_under_way(self):
        def during(left, right, one, other):
            before = self.start_all(one, VICTIM, other)
            right.do("ip link set hw0 down")
            self.ended(one, before, "timed out")
            # The other side has nothing in flight and is notified by the kernel.
            self.await_error(other, 0)
            self.mend(left, right)

        self.pair(QUICK, during)

    def test_idle_connection(self):
        def during(left, right, one, other):
            right.do("ip link set hw0 down")
            for peer, number in ((one, VICTIM), (other, 0)):
                self.await_error(peer, number)
            one.ok("touch")
            self.mend(left, right)

        self.pair(QUICK, during)

    def test_more_peers_than_are_looked_after_at_once(self):
        def during(left, right, one, other):
            before = self.start_all(one, VICTIM, other)
            right.do("ip link set hw0 down")
            self.ended(one, before, "timed out")
            self.mend(left, right)

        # The first turn belongs to the other pair.
        self.pair({**QUICK, "UCX_KEEPALIVE_INTERVAL": "1s", "UCX_KEEPALIVE_NUM_EPS": "1"}, during)

    def test_full_receiver_is_not_taken_for_dead(self):
        def during(left, right, one, other):
            before = self.start_all(one, VICTIM, other)
            one.ok("progress 3")  # longer than the interval, without any message from the other program
            self.assertEqual(one.errors(VICTIM), 0, one.log())
            other.process.kill()
            self.ended(one, before, "reset")

        self.pair(QUICK, during)

    def test_host_that_forgot_the_connection(self):
        def during(left, right, one, other):
            before = self.start_all(one, VICTIM, other)
            right.do("ip link set hw0 down")  # no packet of the close arrives
            other.process.kill()
            other.process.wait()
            one.ok("progress 0.3")
            self.assertEqual(one.errors(VICTIM), 0, one.log())
            self.mend(left, right)
            self.ended(one, before, "reset")

        self.pair(NEVER, during)
