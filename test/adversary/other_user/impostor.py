"""A process of any user that takes over the socket names and ports of a worker that has ended, and records all bytes
that it receives. It runs as a child, because a Python program cannot change its user and change back."""

import json
import os
import select
import signal
import socket
import struct
import sys
import time


def listen_unix(name):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("\0" + name[1:])
    listener.listen(16)
    return listener


def listen_tcp(point):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(tuple(point))
    listener.listen(16)
    return listener


def take(connection, found):
    """Reads available bytes; returns False if the connection has ended."""
    try:
        data, control, _, _ = connection.recvmsg(65536, 1024)
    except OSError:
        return False
    for _, kind, content in control:
        if kind == socket.SCM_RIGHTS:
            numbers = struct.unpack(f"{len(content) // 4}i", content)
            found["descriptors"] += len(numbers)
            for number in numbers:
                os.close(number)
    found["bytes"] += len(data)
    if data and connection.family == socket.AF_INET:
        pretend(connection)
    return len(data) > 0


def pretend(connection):
    """Sends random bytes where the worker would reply: the impostor has no secret of the worker."""
    try:
        connection.send(os.urandom(256), socket.MSG_DONTWAIT)
    except OSError:
        pass  # the caller has closed the connection, or does not read


def accept(listener, connections, found):
    try:
        connections.append(listener.accept()[0])
    except OSError:
        return False
    found["connections"] += 1
    return True


def serve(names, ports, report):
    listeners = [listen_unix(name) for name in names] + [listen_tcp(point) for point in ports]
    found = {"connections": 0, "bytes": 0, "descriptors": 0}
    connections = []
    ending = []
    signal.signal(signal.SIGTERM, lambda *_: ending.append(True))
    os.write(report, b"ready\n")
    while not ending:
        for ready in select.select(listeners + connections, [], [], 0.05)[0]:
            if ready in listeners:
                accept(ready, connections, found)
            elif not take(ready, found):
                connections.remove(ready)
                ready.close()
    # Counts the connections and bytes that arrived before the signal, too.
    for each in listeners:
        each.setblocking(False)
        while accept(each, connections, found):
            pass
    for each in connections:
        each.setblocking(False)
        while take(each, found):
            pass
        each.close()
    for each in listeners:
        each.close()
    os.write(report, json.dumps(found).encode() + b"\n")


class Impostor:
    """Listens as `user` on `names` (abstract socket names with their leading @) and `ports` (pairs of host and port),
    until found() is called. That returns how many connections, bytes and descriptors it received."""

    def __init__(self, user, names, ports=()):
        self.reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setresuid(user, user, user)
                serve(names, ports, writing)
            except BaseException as error:  # pylint: disable=broad-except
                print(f"impostor: {error}", file=sys.stderr)
                os._exit(1)
            os._exit(0)
        os.close(writing)
        self.text = b""
        if self.line() != "ready":
            raise AssertionError("the impostor cannot listen")

    def line(self, limit=30):
        end = time.monotonic() + limit
        while b"\n" not in self.text:
            if not select.select([self.reading], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("the impostor says nothing")
            got = os.read(self.reading, 65536)
            if not got:
                return ""
            self.text += got
        line, _, self.text = self.text.partition(b"\n")
        return line.decode()

    def found(self):
        os.kill(self.pid, signal.SIGTERM)
        text = self.line()
        os.waitpid(self.pid, 0)
        os.close(self.reading)
        return json.loads(text)
