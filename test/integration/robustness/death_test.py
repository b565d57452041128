"""A peer is killed at a random moment; the others notice, go on, and can talk to its successor.

A seed determines the moments. A failure prints it; ROBUSTNESS_SEED replays it, ROBUSTNESS_ROUNDS runs more rounds."""

import os
import random

from harness import LIMIT, Case, Peer, init, started

FIRST = int(os.environ.get("ROBUSTNESS_SEED", "1"))
ROUNDS = int(os.environ.get("ROBUSTNESS_ROUNDS", "3"))
EAGER, LARGE = 5000, 4 << 20
BYSTANDER, VICTIM, SUCCESSOR = 0, 1, 2  # endpoints of the survivor
# The victim's size of messages, and whether it receives, sends, or both.
ROLES = {
    "receiver": (EAGER, "receives"),
    "sender": (EAGER, "sends"),
    "rendezvous receiver": (LARGE, "receives"),
    "rendezvous sender": (LARGE, "sends"),
    "both": (20000, "receives sends"),
    "connecting": (8, "receives sends"),
}


class Deaths:
    """The cases of each class with a transport below."""

    def all_roles(self, mode):
        for role, (size, does) in ROLES.items():
            for seed in range(FIRST, FIRST + ROUNDS):
                with self.subTest(role=role, seed=seed, mode=mode):
                    self.kill_one(random.Random(f"{seed} {role}"), role, size, does, mode)

    def kill_one(self, dice, role, size, does, mode):
        with Peer(self.tls) as survivor, Peer(self.tls) as bystander, Peer(self.tls) as victim:
            before = survivor.descriptors()
            init(survivor, bystander, victim)
            survivor.connect(BYSTANDER, bystander, mode)
            survivor.connect(VICTIM, victim, mode)
            victim.connect(0, survivor, mode)
            bystander.connect(0, survivor, mode)
            for peer, endpoint, tags in ((survivor, BYSTANDER, (1, 2)), (bystander, 0, (2, 1))):
                peer.ok(f"recv beside-r {tags[1]} 3000 4 0")
                peer.ok(f"send beside-s {endpoint} {tags[0]} 3000 4 0")

            if role == "connecting":
                self.doom(dice, victim, 40, 3000)
            channels = self.traffic(survivor, victim, size, does)
            if role != "connecting":
                self.doom(dice, victim, 20000, 150000)
            victim.process.wait(LIMIT)
            self.outlived(survivor, channels, mode)
            self.goes_on(survivor, bystander)
            self.succeeded(survivor, mode)
            self.ends(survivor, bystander, before)

    def doom(self, dice, victim, polls, microseconds):
        unit, most = dice.choice((("polls", polls), ("us", microseconds)))
        # Early moments matter as much as late ones, so the order of magnitude is uniformly distributed.
        amount = max(1, int(most ** dice.random()))
        victim.tell(f"die {unit} {amount}")

    def traffic(self, survivor, victim, size, does):
        """Sends commands without waiting for replies: the victim may die before it replies."""
        channels = []
        if "receives" in does:
            survivor.ok(f"send out {VICTIM} 11 {size} 4 0")
            channels.append("out")
            self.tell(victim, f"recv in 11 {size} 4 0")
        if "sends" in does:
            survivor.ok(f"recv back 12 {size} 4 0")
            self.tell(victim, f"send out 0 12 {size} 4 0")
        return channels

    def tell(self, victim, command):
        try:
            victim.tell(command)
        except BrokenPipeError:
            pass  # dead already

    def outlived(self, survivor, channels, mode):
        # Nothing receives these messages, so the transport must report an error sooner or later.
        survivor.ok(f"send probe {VICTIM} 99 8 4 0")
        for channel in (*channels, "probe"):
            if mode == "none" and survivor.wait(channel, 0.5).timeout:
                continue  # without error handling it may wait, but must not crash
            counts = survivor.wait(channel)
            self.assertFalse(counts.timeout, f"{channel}: {counts}\n{survivor.log()}")
            self.assertEqual(counts.open, 0, counts)
            self.assertGreater(counts.failed, 0, counts)
        survivor.ok("progress 0.05")
        self.assertEqual(survivor.errors(VICTIM), 1 if mode == "peer" else 0, survivor.log())
        self.assertEqual(survivor.errors(BYSTANDER), 0, survivor.log())
        if mode == "peer":
            # The default log level includes the line.
            self.assertRegex(survivor.log(), "was lost|is unreachable")

    def goes_on(self, survivor, bystander):
        for peer in (survivor, bystander):
            for channel in ("beside-r", "beside-s"):
                earlier = peer.state(channel)
                for _ in range(200):
                    if peer.state(channel).succeeded > earlier.succeeded:
                        break
                    survivor.ok("progress 0.05")
                later = peer.state(channel)
                self.assertGreater(later.succeeded, earlier.succeeded, peer.log())
                self.assertEqual((later.failed, later.wrong), (0, 0), later)

    def succeeded(self, survivor, mode):
        survivor.ok(f"close {VICTIM} force 10")
        with started(self.tls, count=1) as (successor,):
            survivor.connect(SUCCESSOR, successor, mode)
            successor.connect(0, survivor, mode)
            for tag, size in ((20, 8), (30, 100000)):
                self.exchange(survivor, SUCCESSOR, successor, 0, tag, size)
            successor.ok("close 0 flush 10")
            self.assertEqual(survivor.ok(f"close {SUCCESSOR} flush 10"), "Success")
            successor.ok("destroy")
            self.assertEqual(successor.quit(), 0)

    def ends(self, survivor, bystander, before):
        for peer in (survivor, bystander):
            peer.ask("stop back")
            for channel in ("beside-r", "beside-s"):
                peer.ok(f"stop {channel}")
            peer.ok("close 0 force 10")
            for channel in ("beside-r", "beside-s"):
                self.assertFalse(peer.wait(channel).timeout)
            peer.ok("destroy")
        self.assertEqual(survivor.descriptors(), before)
        for peer in (survivor, bystander):
            self.assertEqual(peer.quit(), 0, peer.log())

    def test_peer_mode(self):
        self.all_roles("peer")

    def test_none_mode(self):
        self.all_roles("none")


class Posix(Deaths, Case):
    tls = "posix,self"


class SharedMemory(Deaths, Case):
    tls = "sm,self"


class Tcp(Deaths, Case):
    tls = "tcp,self"
