"""A peer is stopped for some time, at different moments; afterwards all messages must have arrived."""

import signal

from harness import TRANSPORTS, Case, Peer, connect, init

PAUSE = 1.0  # seconds; long enough for queues to fill
SIZES = ((8, 3000), (5000, 2000), (300000, 60))


class Pauses(Case):
    def stop_and_go(self, tls, size, count, connected):
        with Peer(tls) as awake, Peer(tls) as sleeper:
            init(awake, sleeper)
            connect(awake, sleeper)
            if connected:
                self.exchange(awake, 0, sleeper, 0, 10, count=1)
            for peer, out, back in ((sleeper, 2, 1), (awake, 1, 2)):
                peer.ok(f"recv in {back} {size} 8 {count}")
                peer.ok(f"send out 0 {out} {size} 8 {count}")
            sleeper.process.send_signal(signal.SIGSTOP)
            try:
                awake.ok(f"progress {PAUSE}")
            finally:
                sleeper.process.send_signal(signal.SIGCONT)
            for peer in (awake, sleeper):
                for channel in ("in", "out"):
                    self.settled(peer.wait(channel), count)
                self.assertEqual(peer.errors(0), 0)
            for peer in (awake, sleeper):
                peer.ok("close 0 force 10")
                peer.ok("destroy")
                self.assertEqual(peer.quit(), 0)
                self.assertEqual(peer.log(), "")

    def test_stopped_while_messages_flow(self):
        for tls in TRANSPORTS:
            for size, count in SIZES:
                with self.subTest(tls=tls, size=size):
                    self.stop_and_go(tls, size, count, connected=True)

    def test_stopped_while_connecting(self):
        for tls in TRANSPORTS:
            for size, count in SIZES[:2]:
                with self.subTest(tls=tls, size=size):
                    self.stop_and_go(tls, size, count, connected=False)
