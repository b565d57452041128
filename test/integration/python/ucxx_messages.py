#!/usr/bin/env python3
"""A ucxx server and client of one process exchange tagged and active messages by asyncio.

Run by run.py in a virtual environment that has ucxx. Prints "ok" and the UCX libraries that the process has mapped.
"""
import asyncio

import numpy
import ucxx
from served_by import ucx_libraries

SIZES = [1, 1000, 100_000, 4 << 20]


async def serve(endpoint):
    """Sends back all received messages, tagged and active ones in turn."""
    for size in SIZES:
        message = numpy.empty(size, dtype=numpy.uint8)
        await endpoint.recv(message)
        await endpoint.send(message)
        active = await endpoint.am_recv()
        await endpoint.am_send(active)


async def check(endpoint):
    for size in SIZES:
        sent = numpy.arange(size, dtype=numpy.uint64).astype(numpy.uint8)
        returned = numpy.empty_like(sent)
        await endpoint.send(sent)
        await endpoint.recv(returned)
        assert numpy.array_equal(sent, returned), f"tagged message of {size} bytes"
        await endpoint.am_send(sent)
        active = numpy.frombuffer(await endpoint.am_recv(), dtype=numpy.uint8)
        assert numpy.array_equal(sent, active), f"active message of {size} bytes"


async def main():
    served = asyncio.get_running_loop().create_future()

    async def accept(endpoint):
        try:
            await serve(endpoint)
            served.set_result(None)
        except BaseException as failure:
            served.set_exception(failure)

    listener = ucxx.create_listener(accept)
    endpoint = await ucxx.create_endpoint("127.0.0.1", listener.port)
    await check(endpoint)
    await served
    await endpoint.close()
    listener.close()


if __name__ == "__main__":
    asyncio.run(main())
    print("ok", *sorted(ucx_libraries()))
