"""The listening sockets of one process, from /proc, because other tests run concurrently."""

import os
import socket


def inodes_of(pid):
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue  # closed meanwhile
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def rows_of(path):
    with open(path, encoding="ascii") as table:
        return [line.split() for line in table.readlines()[1:]]


def tcp_ports(pid):
    inodes = inodes_of(pid)
    found = []
    for row in rows_of(f"/proc/{pid}/net/tcp"):
        if row[3] == "0A" and row[9] in inodes:
            address, port = row[1].split(":")
            found.append((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


def abstract_names(pid, beginning):
    """Each socket once: an accepted connection has the listening socket's name."""
    inodes = inodes_of(pid)
    return sorted({row[7] for row in rows_of(f"/proc/{pid}/net/unix")
                   if len(row) > 7 and row[6] in inodes and row[7].startswith("@" + beginning)})
