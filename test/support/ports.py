"""Ports for servers that a test starts."""

import random
import socket


def free_port():
    """A free TCP port below the range of ephemeral ports. A connecting socket could take a port of that range before
    the server does."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
                return port
            except OSError:
                pass
