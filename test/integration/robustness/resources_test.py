"""Exhausted descriptors, address space and /dev/shm: the program works, or a status and a log line give the reason."""

from harness import PEER, TRANSPORTS, Case, Peer, connect, init, need_private_mounts, started


class Descriptors(Case):
    def test_at_creation_of_the_worker(self):
        for tls in (*TRANSPORTS, "all"):
            for limit in range(3, 24):
                with self.subTest(tls=tls, limit=limit), Peer(tls) as peer:
                    peer.ok(f"limit nofile {limit}")
                    answer = peer.ask("init")
                    self.assertRegex(answer, "^(ok|error ucp_)", peer.log())
                    if answer != "ok":
                        self.assertGreaterEqual(len(peer.lines()), 1, "no reason was logged")
                    self.assertLess(len(peer.lines()), 40, peer.log())
                    peer.ok("destroy")
                    # In a sanitizer build the leak check at the end of the process reads files.
                    peer.ok("limit nofile 1024")
                    self.assertEqual(peer.quit(), 0, peer.log())

    def limited(self, tls, limited_one):
        """One of two processes has few free descriptors when they connect; both must stay usable for others."""
        for spare in range(0, 6):
            with self.subTest(tls=tls, spare=spare), Peer(tls) as one, Peer(tls) as other:
                before = one.descriptors()
                init(one, other)
                poor = (one, other)[limited_one]
                poor.leave_descriptors(spare)
                one.connect(0, other)
                other.ok("recv in 1 3000 4 20")
                one.ok("send out 0 1 3000 4 20")
                counts = one.wait("out", 1)
                if counts.failed == 0 and not counts.timeout:
                    self.settled(other.wait("in"), 20)
                else:
                    # It waits for a descriptor, or has given up; in both cases there is a log line, at most a few
                    # times.
                    line_count = len(one.lines()) + len(other.lines())
                    self.assertGreaterEqual(line_count, 1, counts)
                    self.assertLess(line_count, 20, one.log() + other.log())
                    self.assertLessEqual(one.errors(0), 1)
                other.ok("stop in")
                one.ok("close 0 force 5")
                for peer in (one, other):
                    peer.ok("destroy")
                    self.assertEqual(peer.process.poll(), None)
                if limited_one != 0:
                    self.assertEqual(one.descriptors(), before)
                self.assertEqual((one.quit(), other.quit()), (0, 0))

    def test_when_connecting(self):
        for tls in TRANSPORTS:
            self.limited(tls, 0)

    def test_peers_that_must_wait_are_one_warning_and_let_in_later(self):
        with started("posix,self", count=3) as (host, one, other):
            host.leave_descriptors(0)
            for tag, peer in enumerate((one, other), 1):
                host.ok(f"recv in{tag} {tag} 8 1 1")
                peer.connect(0, host)
                peer.ok(f"send out 0 {tag} 8 1 1")
            for _ in range(3000):
                if host.lines("peers must wait"):
                    break
                host.ok("progress 0.01")
            host.ok("limit nofile 1024")
            for tag, peer in enumerate((one, other), 1):
                self.settled(host.wait(f"in{tag}"), 1)
                self.settled(peer.wait("out"), 1)
            self.assertEqual(len(host.lines()), 2, host.log())
            self.assertEqual(len(host.lines("are left to the program")), 1, host.log())
            self.assertRegex(host.log(), " warn +a connection cannot be accepted, peers must wait: Too many open files")

    def test_when_accepting(self):
        for tls in TRANSPORTS:
            self.limited(tls, 1)


class Memory(Case):
    def test_little_address_space(self):
        for tls in TRANSPORTS:
            for megabytes in (8, 16, 24, 32, 48, 64, 96):
                with self.subTest(tls=tls, megabytes=megabytes):
                    self.little_address_space(tls, megabytes)

    def little_address_space(self, tls, megabytes):
        with Peer(tls) as poor, Peer(tls) as other:
            poor.ok(f"limit as {megabytes << 20}")
            answer = poor.ask("init")
            self.assertRegex(answer, "^(ok|error ucp_)", poor.log())
            if answer != "ok":
                self.assertGreaterEqual(len(poor.lines()), 1, answer)
                return
            poor.address = poor.ok("address").strip()
            other.init()
            connect(poor, other)
            for size in (8, 100000, 4 << 20):
                tag = size * 4
                if not poor.ask(f"recv in{size} {tag + 1} {size} 2 6").startswith("ok"):
                    break  # the test itself lacks memory
                if not poor.ask(f"send out{size} 0 {tag} {size} 2 6").startswith("ok"):
                    break
                other.ok(f"recv in{size} {tag} {size} 2 6")
                other.ok(f"send out{size} 0 {tag + 1} {size} 2 6")
                for peer in (poor, other):
                    for name in ("in", "out"):
                        counts = peer.wait(f"{name}{size}", 5)
                        self.assertEqual(counts.wrong, 0)
                        if counts.timeout or counts.failed > 0:
                            self.assertGreaterEqual(
                                len(poor.lines()) + len(other.lines()), 1,
                                f"{size} bytes: {counts}, and no reason was logged")
                            return

    def test_full_dev_shm(self):
        need_private_mounts(self)
        # Both processes see the same tiny /dev/shm, which is full before they start.
        script = ("mount -t tmpfs -o size=16k none /dev/shm && "
                  "(head -c 100000 /dev/zero > /dev/shm/full 2>/dev/null; true) && exec " + PEER)
        wrap = ("unshare", "-m", "sh", "-c", script)
        for tls in ("posix,self", "sm,self"):
            with self.subTest(tls=tls), started(tls, wrap) as (one, other):
                connect(one, other)
                self.exchange_sizes(one, other, 8, 100000, 4 << 20)
                self.assertEqual(one.log() + other.log(), "")
