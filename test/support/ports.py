"""Ports for servers that a test starts."""

import random
import socket


def free_port():
    """A TCP port that nobody uses, below those that the kernel gives to sockets that connect: such a
    socket could take it before the server does."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
                return port
            except OSError:
                pass
