"""A peer that keeps sending to a worker without credits, next to a peer that respects its credits."""

import os

from harness import LIMIT, Case, Peer
from limits import memory

ORDINARY = 1 << 20
HARD = 12 << 20
FLOOD = 60 << 20
MESSAGE = 3000
SLACK = 8 << 20  # one batch of messages that had already arrived, and overhead of the heap
# AddressSanitizer keeps freed memory, which the receiver does not store.
NO_QUARANTINE = ":".join((os.environ.get("ASAN_OPTIONS", ""), "quarantine_size_mb=0",
                          "thread_local_quarantine_size_kb=0")).lstrip(":")


class Flood(Case):
    def attack(self, tls, length=MESSAGE, **flooders):
        receives = {"UCX_UNEXPECTED_LIMIT": str(ORDINARY), "UCX_UNEXPECTED_HARD_LIMIT": str(HARD),
                    "UCX_LOG_LEVEL": "error", "ASAN_OPTIONS": NO_QUARANTINE}
        with Peer(tls, **receives) as receiver, Peer(tls) as honest, \
                Peer(tls, UCX_UNEXPECTED_WINDOW="inf", **flooders) as flooder:
            for each in (receiver, honest, flooder):
                each.init()
            receiver.connect(0, honest)
            receiver.connect(1, flooder)
            honest.connect(0, receiver)
            flooder.connect(0, receiver)
            self.exchange(honest, 0, receiver, 0, 10)
            self.exchange(flooder, 0, receiver, 1, 20)
            honest.ok(f"send early 0 1 {MESSAGE} 4 100")
            self.settled(honest.wait("early"), 100)
            before = memory(receiver.pid)
            flooder.ok(f"send flood 0 2 {length} 4 {FLOOD // length}")
            flooder.tell(f"wait flood {LIMIT / 2}")
            for _ in range(LIMIT * 10):
                receiver.ok("progress 0.05")
                self.assertLess(memory(receiver.pid), before + HARD + SLACK)
                if receiver.errors(1) > 0:
                    break
            self.assertEqual(receiver.ok("errors 1").strip(), "1 A limit was exceeded")
            flooder.hear()
            self.assertEqual(flooder.errors(0), 1)
            self.assertEqual(len(receiver.lines("it is cut off")), 1, receiver.log())
            # The other peer has lost nothing, and continues.
            receiver.ok(f"recv early 1 {MESSAGE} 4 100")
            self.settled(receiver.wait("early"), 100)
            self.exchange(honest, 0, receiver, 0, 30)
            self.assertEqual((honest.errors(0), receiver.errors(0)), (0, 0))
            # A peer that was cut off may connect again.
            flooder.ok(f"close 0 force {LIMIT / 2}")
            receiver.ok(f"close 1 force {LIMIT / 2}")
            receiver.connect(1, flooder)
            flooder.connect(0, receiver)
            self.exchange(flooder, 0, receiver, 1, 40)

    def test_over_shared_memory(self):
        self.attack("posix,self")

    def test_over_tcp(self):
        self.attack("tcp,self")

    def test_long_messages_in_fragments(self):
        for tls in ("posix,self", "tcp,self"):
            self.attack(tls, 300_000, UCX_RNDV_THRESH="inf")
