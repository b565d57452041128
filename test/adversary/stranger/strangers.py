"""A stranger on the network: hostile connections to one listening socket, chosen by a seed."""

import random
import socket
import struct
import threading


def record_client(start):
    """Records the first bytes of a real client until it waits for a reply. `start(port)` starts it and returns its
    process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        process = start(listener.getsockname()[1])
        try:
            connection = listener.accept()[0]
            with connection:
                connection.settimeout(60)
                recorded = connection.recv(65536)
                connection.settimeout(0.2)
                try:
                    while more := connection.recv(65536):
                        recorded += more
                except TimeoutError:
                    pass  # it waits for a reply
        finally:
            process.kill()
            process.communicate()
    return recorded


class Stranger:
    """Attacks a port from a thread of its own, with at most `most` open connections at a time, until it is stopped."""

    def __init__(self, port, recordings, seed, most=300):
        self.port = port
        self.recordings = recordings
        self.random = random.Random(seed)
        self.most = most
        self.open = []  # connections, and the bytes that follow one by one
        self.made = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.ended.set()
        self.thread.join()
        for connection, _ in self.open:
            connection.close()

    def run(self):
        while not self.ended.is_set():
            self.connect()
            self.drip()
            while len(self.open) > self.most:
                self.leave(self.open.pop(self.random.randrange(len(self.open)))[0])
            self.ended.wait(0.0005)  # yield the processor to the processes under test

    def connect(self):
        try:
            made = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        except OSError:
            return  # its accept queue is full, or the job has ended
        self.made += 1
        at_once, later = self.words()
        try:
            made.sendall(at_once)
        except OSError:
            pass  # closed by the server already
        made.setblocking(False)
        self.open.append((made, later))

    def words(self):
        """Returns the bytes to send at once, and the bytes to send one by one."""
        kind = self.random.randrange(7)
        if kind == 0:
            return b"", b""
        if kind == 1:
            return self.random.randbytes(self.random.randrange(1, 3000)), b""
        recorded = self.random.choice(self.recordings)
        cut = self.random.randrange(len(recorded))
        if kind == 2:
            return recorded[:cut], b""
        if kind == 3:
            return recorded[:cut], recorded[cut:]
        if kind == 4:
            return recorded, self.random.randbytes(200)
        if kind == 5:
            return recorded + self.random.randbytes(5000), b""
        mutated = bytearray(recorded)
        for _ in range(self.random.randrange(1, 5)):
            mutated[self.random.randrange(len(mutated))] ^= 1 << self.random.randrange(8)
        return bytes(mutated), b""

    def drip(self):
        if not self.open:
            return
        index = self.random.randrange(len(self.open))
        connection, later = self.open[index]
        if not later:
            return
        try:
            connection.send(later[:1])
        except OSError:
            later = b""
        self.open[index] = (connection, later[1:])

    def leave(self, connection):
        if self.random.randrange(2):  # with a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
