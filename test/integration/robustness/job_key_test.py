"""Processes with the same job key, different ones, or none, and a man in the middle."""

import os
import select
import socket
import tempfile
import threading

from harness import Case, Peer, connect, init, started

KEY = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"
ENCRYPTED = {"UCX_JOB_KEY": KEY, "UCX_TCP_ENCRYPTION": "y"}


class Pairs(Case):
    def talk(self, one, other):
        connect(one, other)
        self.exchange_sizes(one, other, 8, 3000, 1 << 20)
        self.assertEqual((one.log(), other.log()), ("", ""))

    def apart(self, settings_one, settings_other, log_one, log_other):
        """A message from one to the other fails, and both log the reason."""
        # Each device of a host would have its own connection and its own line.
        device = {"UCX_NET_DEVICES": "lo"}
        with Peer("tcp,self", **settings_one, **device) as one, Peer("tcp,self", **settings_other, **device) as other:
            init(one, other)
            one.connect(0, other)
            one.ok("send out 0 1 8 1 1")
            other.tell("progress 5")
            counts = one.wait("out")
            self.assertEqual((counts.timeout, counts.failed), (False, 1), counts)
            self.assertIn("unreachable", counts.text.lower())
            other.hear()
            self.assertEqual(len(one.lines(log_one)), 1, one.log())
            self.assertEqual(len(other.lines(log_other)), 1, other.log())
            for peer in (one, other):
                self.assertNotIn(KEY, peer.log())
                self.assertNotIn(OTHER, peer.log())


class Keys(Pairs):
    def test_same_key_from_the_environment_and_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "key")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
                file.write(KEY + "\n")
            with Peer("tcp,self", UCX_JOB_KEY=KEY) as one, Peer("tcp,self", UCX_JOB_KEY_FILE=path) as other:
                self.talk(one.init(), other.init())
                self.leave(one, other)

    def test_key_of_another_job(self):
        self.apart({"UCX_JOB_KEY": KEY}, {"UCX_JOB_KEY": OTHER}, "the job keys differ", "the keys differ")

    def test_no_key_on_one_side(self):
        self.apart({"UCX_JOB_KEY": KEY}, {}, "this process has a job key and the peer has none",
                   "has a job key and this process has none")
        self.apart({}, {"UCX_JOB_KEY": KEY}, "the peer has a job key and this process has none",
                   "has no job key and this process has one")

    def refused(self, word, **settings):
        with Peer("tcp,self", **settings) as one:
            self.assertTrue(one.ask("init").startswith("error"), one.log())
            self.assertEqual(len(one.lines()), 1, one.log())
            self.assertIn(word, one.log())
            self.assertNotIn(KEY, one.log())

    def test_keys_that_cannot_be_used(self):
        self.refused("UCX_JOB_KEY has less than 16 characters", UCX_JOB_KEY="short")
        self.refused("No such file", UCX_JOB_KEY_FILE="/nonexistent/key")
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo, 0o600)
            self.refused("not a regular file", UCX_JOB_KEY_FILE=fifo)
            path = os.path.join(folder, "key")
            with open(path, "w", encoding="ascii") as file:
                file.write(KEY)
            os.chmod(path, 0o644)
            self.refused("give it 600", UCX_JOB_KEY_FILE=path)


class Listeners(Pairs):
    """Clients that know a listener's port."""

    def met(self, server_settings, client_settings):
        """Returns the result of the client's messages, and the logs of both."""
        with Peer("posix,self", **server_settings) as server, Peer("posix,self", **client_settings) as client:
            init(server, client)
            client.ok(f"reach 0 {server.ok('listen')}")
            # Sent before the server makes progress, so that a refusal finds all of them in flight.
            client.ok("send out 0 1 5000 4 4")
            server.ok("recv in 1 5000 4 4")
            server.tell("progress 5" if server_settings != client_settings else "wait in 30")
            counts = client.wait("out")
            server.hear()
            for peer in (server, client):
                self.assertNotIn(KEY, peer.log())
                self.assertNotIn(OTHER, peer.log())
            return counts, server.log(), client.log()

    def kept_out(self, server_settings, client_settings, server_line, client_line):
        counts, server, client = self.met(server_settings, client_settings)
        self.assertEqual((counts.timeout, counts.failed, counts.succeeded), (False, 4, 0), counts)
        self.assertIn("unreachable", counts.text.lower())
        self.assertEqual((server.count("\n"), client.count("\n")), (1, 1), server + client)
        self.assertIn(server_line, server)
        self.assertIn(client_line, client)

    def test_with_and_without_a_common_key(self):
        for key in ({}, {"UCX_JOB_KEY": KEY}):
            with self.subTest(key=key):
                counts, *logs = self.met(key, key)
                self.settled(counts, 4)
                self.assertEqual(logs, ["", ""])

    def test_another_key(self):
        self.kept_out({"UCX_JOB_KEY": KEY}, {"UCX_JOB_KEY": OTHER}, "its job key is another one",
                      "its job key is another one")

    def test_no_key_on_one_side(self):
        self.kept_out({"UCX_JOB_KEY": KEY}, {}, "has no job key and this process has one",
                      "the server has a job key and this process has none")
        self.kept_out({}, {"UCX_JOB_KEY": KEY}, "it has a job key and this process has none",
                      "it has no job key and this process has one")


class Proxy:
    """Forwards the bytes of one TCP connection, and changes one byte in one direction on request."""

    def __init__(self, target):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = target
        self.seen = bytearray()
        self.change_next = False
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        client = self.listener.accept()[0]
        server = socket.create_connection(self.target)
        other = {client: server, server: client}
        while True:
            for source in select.select(list(other), [], [], 60)[0]:
                try:
                    data = bytearray(source.recv(65536))
                    if not data:
                        raise ConnectionError
                    if source is client:
                        self.seen += data
                        if self.change_next:
                            self.change_next = False
                            data[len(data) // 2] ^= 1
                    other[source].sendall(data)
                except OSError:
                    client.close()
                    server.close()
                    return

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.listener.close()


class Encryption(Pairs):
    def between(self, settings, during):
        """Two processes that communicate through a proxy."""
        settings = {**settings, "UCX_NET_DEVICES": "lo", "UCX_TCP_AF_PRIO": "inet"}
        with started("tcp,self", **settings) as (one, other):
            point = self.port_of(other)
            with Proxy(("127.0.0.1", point)) as proxy:
                one.ok(f"redirect {point} {proxy.port}")
                one.connect(0, other)
                # The first message establishes the connection, through the proxy.
                other.ok("recv first 20 8 1 1")
                one.ok("send first 0 20 8 1 1")
                for peer in (one, other):
                    self.settled(peer.wait("first"), 1)
                other.connect(0, one)
                self.exchange(one, 0, other, 0, 2, 3000)
                self.assertGreater(len(proxy.seen), 20 * 3000)
                during(one, other, proxy)

    def port_of(self, peer):
        from sockets import tcp_ports
        ports = [port for host, port in tcp_ports(peer.pid) if host == "127.0.0.1"]
        self.assertEqual(len(ports), 1)
        return ports[0]

    def test_both_encrypt(self):
        with started("tcp,self", **ENCRYPTED) as (one, other):
            self.talk(one, other)
            self.leave(one, other)

    def test_one_side_encrypts(self):
        self.apart(ENCRYPTED, {"UCX_JOB_KEY": KEY}, "only one side encrypts", "another UCX_TCP_ENCRYPTION")

    def test_without_a_key(self):
        with Peer("tcp,self", UCX_TCP_ENCRYPTION="y") as one:
            self.assertTrue(one.ask("init").startswith("error"), one.log())
            self.assertEqual(len(one.lines("UCX_TCP_ENCRYPTION=y needs a job key")), 1, one.log())

    def test_frames_show_without_encryption_and_not_with_it(self):
        def shown(settings):
            """Counts the mark of a frame, two bytes, on the wire."""
            counts = []
            self.between(settings, lambda _one, _other, proxy: counts.append(proxy.seen.count(b"HW")))
            return counts[0]

        self.assertGreaterEqual(shown({"UCX_JOB_KEY": KEY}), 20)
        self.assertLess(shown(ENCRYPTED), 10)

    def test_a_changed_byte_ends_the_connection(self):
        def during(one, other, proxy):
            proxy.change_next = True
            other.ok("recv in 8 3000 1 1")
            one.ok("send out 0 8 3000 1 1")
            one.tell("wait out 10")
            other.tell("progress 2")
            one.hear()
            other.hear()
            self.assertFalse(proxy.change_next)
            self.assertEqual(len(other.lines("was changed in transit")), 1, other.log())
            self.assertEqual(other.errors(0), 1)
            self.assertEqual(other.state("in").wrong, 0)

        self.between(ENCRYPTED, during)
