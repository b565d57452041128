"""A peer is stopped for some time, at different moments; afterwards all messages must have arrived."""

import signal

from harness import TRANSPORTS, Case, both_ways, connect, started

PAUSE = 1.0  # seconds; long enough for queues to fill
SIZES = ((8, 3000), (5000, 2000), (300000, 60))


class Pauses(Case):
    def stop_and_go(self, tls, size, count, connected):
        with started(tls) as (awake, sleeper):
            connect(awake, sleeper)
            if connected:
                self.exchange(awake, 0, sleeper, 0, 10, count=1)
            both_ways(sleeper, awake, size, 8, count)
            sleeper.process.send_signal(signal.SIGSTOP)
            try:
                awake.ok(f"progress {PAUSE}")
            finally:
                sleeper.process.send_signal(signal.SIGCONT)
            self.all_came(count, awake, sleeper)
            self.leave(awake, sleeper)
            self.assertEqual((awake.log(), sleeper.log()), ("", ""))

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
