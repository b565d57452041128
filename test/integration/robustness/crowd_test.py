"""Ten thousand silent connections to each port of a server; real clients must be served all the same."""

import resource
import socket

from harness import Case, connect, started
from sockets import tcp_ports

CROWD = 10000


class Crowds(Case):
    def setUp(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = CROWD + 200
        if hard != resource.RLIM_INFINITY and hard < wanted:
            self.skipTest(f"no more than {hard} descriptors are allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

    def come(self, point):
        """Opens all connections. Those that the kernel's queue does not accept yet are retried."""
        crowd = []
        for _ in range(CROWD):
            one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            crowd.append(one)
            one.setblocking(False)
            one.connect_ex(point)
        return crowd

    def served_meanwhile(self, server, point, meet):
        before = len(server.descriptors())
        crowd = self.come(point)
        meet()
        self.assertLess(len(server.descriptors()), before + 300)
        self.assertEqual(len(server.lines("have not identified themselves")), 1, server.log())
        self.assertEqual(len(server.lines()), 1, server.log())
        for one in crowd:
            one.close()

    def test_listener(self):
        with started("tcp,self", UCX_CM_TIMEOUT="60s") as (server, client):
            port = int(server.ok("listen"))
            self.served_meanwhile(server, ("127.0.0.1", port), lambda: self.client_talks(client, server, port))

    def test_transport(self):
        with started("tcp,self") as (server, client):
            points = tcp_ports(server.pid)

            def meet():
                connect(client, server)
                self.exchange(client, 0, server, 0, 2)

            loopback = [point for point in points if point[0] == "127.0.0.1"]
            self.served_meanwhile(server, loopback[0], meet)


class Unanswered(Case):
    def test_client_waits_and_hears_when_the_server_dies(self):
        for tls in ("posix,self", "tcp,self"):
            with self.subTest(tls=tls), started(tls) as (server, client):
                before = client.descriptors()
                server.ok("unanswered")
                client.ok(f"reach 0 {server.ok('listen')}")
                client.ok("send out 0 1 5000 4 4")
                client.ok("send long 0 1 1000000 4 4")
                for _ in range(1000):
                    if server.ok("requests").strip() == "1":
                        break
                    server.ok("progress 0.01")
                    client.ok("progress 0.01")
                self.assertEqual(client.errors(0), 0)
                self.assertTrue(client.wait("out", 0.2).timeout)
                server.process.kill()
                for name in ("out", "long"):
                    counts = client.wait(name)
                    self.assertEqual((counts.open, counts.failed), (0, 4), counts)
                self.assertEqual(client.errors(0), 1)
                client.ok("close 0 force 10")
                client.ok("progress 0.01")
                self.assertEqual(client.descriptors(), before)
