"""A peer dies while operations of every family wait for it: each must end with an error, once, and nothing may be
left."""

import time

from harness import LIMIT, Case, Peer, started

BYSTANDER, FIRST_VICTIM, ROUNDS = 0, 1, 3
# Operations that cannot end without the peer, on any transport.
WAITS = ("tag_sync", "tag_rndv", "am_rndv", "fetch", "stream_recv", "flush", "flush_worker")


class Flights:
    """The counts of one family's operations."""

    def __init__(self, text):
        (self.started, self.at_once, self.pending, self.failed, self.succeeded,
         self.error) = (int(value) for value in text.split("/"))

    def __repr__(self):
        return str(vars(self))


def flights(peer):
    pairs = (word.split("=") for word in peer.ok("flights").split())
    return {name: Flights(text) for name, text in pairs}


def holdings(peer):
    """The number of descriptors, and of mappings of unnamed files."""
    with open(f"/proc/{peer.pid}/maps", encoding="utf-8") as maps:
        mapped = sum("memfd:" in line for line in maps)
    return peer.descriptors(), mapped


class PendingCase(Case):
    def introduce(self, one, other, number, answer):
        """Makes both exchange a message; `one` gets keys to the memory of the other."""
        one.connect(number, other)
        other.connect(answer, one)
        self.exchange(one, number, other, answer, 100 + 4 * number, count=4)
        one.ok(f"keys {number} " + other.ok("memory"))

    def start_all(self, one, number, idle):
        """From here on the idle process makes no progress."""
        idle.ok("idle")
        one.ok(f"start {number}")
        before = flights(one)
        for name in WAITS:
            self.assertGreater(before[name].pending, 0, (name, before))
        return before

    def all_ended(self, one, number, before):
        end = time.monotonic() + LIMIT / 2
        while time.monotonic() < end:
            one.ok("progress 0.02")
            after = flights(one)
            if one.errors(number) and not any(each.pending for each in after.values()):
                break
        one.ok("progress 0.05")
        self.assertEqual(one.errors(number), 1, f"{after}\n{one.log()}")
        for name, each in after.items():
            self.assertEqual((each.pending, each.at_once + each.failed + each.succeeded),
                             (0, each.started), (name, after))
            if name in WAITS:
                self.assertEqual((each.failed, each.succeeded), (before[name].pending, 0),
                                 (name, after))
        return after

    def refused_from_now_on(self, one, number):
        one.ok(f"start {number}")
        after = flights(one)
        for name, each in after.items():
            if name != "flush_worker":  # other endpoints have nothing to flush
                self.assertEqual((each.failed, each.pending), (each.started, 0), (name, after))


class Killed(PendingCase):
    def test_posix(self):
        self.kill_rounds("posix,self")

    def test_shared_memory(self):
        self.kill_rounds("sm,self")

    def test_tcp(self):
        self.kill_rounds("tcp,self")

    def kill_rounds(self, tls):
        with started(tls) as (survivor, bystander):
            survivor.connect(BYSTANDER, bystander)
            bystander.connect(0, survivor)
            self.exchange(survivor, BYSTANDER, bystander, 0, 2)
            before = holdings(survivor)
            for number in range(FIRST_VICTIM, FIRST_VICTIM + ROUNDS):
                with Peer(tls) as victim:
                    self.kill_one(survivor, victim, number)
                self.assertEqual(holdings(survivor), before, survivor.log())
                # The survivor continues, and the next round uses a successor.
                self.exchange(survivor, BYSTANDER, bystander, 0, 1000 + 2 * number)
            self.assertEqual(survivor.errors(BYSTANDER), 0)
            self.assertEqual(len(survivor.lines("was lost")), ROUNDS, survivor.log())
            self.leave(survivor, bystander)

    def kill_one(self, survivor, victim, number):
        victim.init()
        self.introduce(survivor, victim, number, 0)
        before = self.start_all(survivor, number, victim)
        victim.process.kill()
        self.all_ended(survivor, number, before)
        self.refused_from_now_on(survivor, number)
        self.assertEqual(survivor.errors(number), 1)
        mapped = survivor.ok("touch").strip() == "mapped"
        self.assertEqual(mapped, "tcp" not in survivor.tls)
        survivor.ok(f"close {number} force 10")
        survivor.ok("progress 0.01")
