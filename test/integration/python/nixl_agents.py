#!/usr/bin/env python3
"""Two NIXL agents of one process read and write each other's memory through NIXL's UCX plug-in.

Run by run_nixl.py, in a virtual environment that has NIXL, with the tested libucp preloaded. Prints "ok" and
the number of bytes that were checked.
"""
import sys
import time

import numpy
from nixl._api import nixl_agent, nixl_agent_config

SIZES = [1, 4096, 1 << 20]
LIMIT_S = 30  # for one transfer


def make_agent(name):
    return nixl_agent(name, nixl_agent_config(backends=["UCX"]))


def region(array):
    """Address, length and device of host memory, as NIXL describes a transfer."""
    return (array.ctypes.data, array.nbytes, 0)


def transfer(agent, operation, local, remote, peer):
    """Transfers one buffer and waits for the end."""
    handle = agent.initialize_xfer(operation, local, remote, peer)
    state = agent.transfer(handle)
    deadline = time.monotonic() + LIMIT_S
    while state == "PROC":
        if time.monotonic() > deadline:
            sys.exit(f"{operation} does not end")
        state = agent.check_xfer_state(handle)
    if state != "DONE":
        sys.exit(f"{operation} ended as {state}")
    agent.release_xfer_handle(handle)


def check(first, second, size):
    local_data = numpy.arange(size, dtype=numpy.uint64).astype(numpy.uint8)
    remote_data = numpy.zeros(size, dtype=numpy.uint8)
    registered = [(agent, agent.register_memory([(*region(array), "")], "DRAM"))
                  for agent, array in ((first, local_data), (second, remote_data))]
    peer = first.add_remote_agent(second.get_agent_metadata())
    local = first.get_xfer_descs([region(local_data)], "DRAM")
    # Descriptors are passed as bytes between processes.
    remote = first.deserialize_descs(second.get_serialized_descs(second.get_xfer_descs([region(remote_data)], "DRAM")))

    transfer(first, "WRITE", local, remote, peer)
    if not numpy.array_equal(local_data, remote_data):
        sys.exit(f"WRITE of {size} bytes brought other bytes")
    remote_data[:] = (local_data * 3 + 1).astype(numpy.uint8)
    transfer(first, "READ", local, remote, peer)
    if not numpy.array_equal(local_data, remote_data):
        sys.exit(f"READ of {size} bytes brought other bytes")

    first.remove_remote_agent(peer)
    for agent, memory in registered:
        agent.deregister_memory(memory)


def main():
    first, second = make_agent("first"), make_agent("second")
    for size in SIZES:
        check(first, second, size)
    print(f"ok: READ and WRITE of {', '.join(map(str, SIZES))} bytes")


if __name__ == "__main__":
    main()
