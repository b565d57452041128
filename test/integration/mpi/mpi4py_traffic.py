"""mpi4py on top of the MPI under test: pickled objects, buffers, wildcards, collectives, threads.

Needs no numpy. Every rank checks its received data; rank 0 prints the PASS line at the end.
"""
import array
import sys
import threading

import mpi4py

mpi4py.rc.thread_level = "multiple"
from mpi4py import MPI  # noqa: E402  (MPI starts here)

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
checks = 0


def check(condition, problem):
    global checks
    checks += 1
    if not condition:
        print(f"FAIL mpi4py rank {RANK}: {problem}", file=sys.stderr, flush=True)
        WORLD.Abort(1)


def block(seed, size):
    return bytes((seed * 131 + i * 7 + i // 251) & 255 for i in range(size))


def objects():
    """Objects of many kinds and sizes travel around the ring and are equal afterwards."""
    for thing in (None, 7, "text" * 5000, {"a": [1, 2.5, (3,)], "r": RANK}, list(range(60000))):
        got = WORLD.sendrecv(thing, (RANK + 1) % RANKS, source=(RANK - 1) % RANKS)
        if isinstance(thing, dict):
            check(got["r"] == (RANK - 1) % RANKS, "the dictionary of the neighbour")
        else:
            check(got == thing, f"object {type(thing)}")


def buffers():
    for size in (0, 1, 100, 8192, 65537, 1000000):
        data = bytearray(size)
        requests = [WORLD.Irecv([data, MPI.BYTE], (RANK - 1) % RANKS, 3),
                    WORLD.Isend([block(RANK, size), MPI.BYTE], (RANK + 1) % RANKS, 3)]
        MPI.Request.Waitall(requests)
        check(bytes(data) == block((RANK - 1) % RANKS, size), f"buffer of {size} bytes")


def wildcards():
    """Rank 0 probes for any message, then receives exactly that message."""
    if RANK != 0:
        for i in range(20):
            WORLD.send((RANK, i), 0, tag=i)
        return
    next_of = [0] * RANKS
    for _ in range(20 * (RANKS - 1)):
        status = MPI.Status()
        message = WORLD.mprobe(status=status)
        source, index = message.recv()
        check(source == status.Get_source() and index == status.Get_tag(), "source and tag")
        check(index == next_of[source], f"message {index} of rank {source} came out of order")
        next_of[source] += 1


def collectives():
    check(WORLD.allgather(RANK * 3) == [3 * r for r in range(RANKS)], "allgather")
    check(WORLD.alltoall([(RANK, r) for r in range(RANKS)]) == [(r, RANK) for r in range(RANKS)],
          "alltoall")
    check(WORLD.bcast("x" * 100000 if RANK == RANKS - 1 else None, RANKS - 1) == "x" * 100000, "bcast")
    check(WORLD.allreduce(RANK + 1) == RANKS * (RANKS + 1) // 2, "allreduce")
    own, total = array.array("q", range(RANK, RANK + 5000)), array.array("q", [0] * 5000)
    WORLD.Allreduce([own, MPI.INT64_T], [total, MPI.INT64_T], MPI.SUM)
    offset = RANKS * (RANKS - 1) // 2
    check(all(total[i] == RANKS * i + offset for i in range(5000)), "Allreduce of an array")


def threads():
    """Two threads per rank, each with a communicator of its own."""
    comms = [WORLD.Dup(), WORLD.Dup()]

    def work(comm):
        for i in range(50):
            got = comm.sendrecv((RANK, i), (RANK + 1) % RANKS, source=(RANK - 1) % RANKS)
            check(got == ((RANK - 1) % RANKS, i), "message of a thread")

    workers = [threading.Thread(target=work, args=(comm,)) for comm in comms]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for comm in comms:
        comm.Free()


for part in (objects, buffers, wildcards, collectives, threads):
    part()
    WORLD.Barrier()
total_checks = WORLD.reduce(checks)
if RANK == 0:
    print(f"PASS mpi4py: {total_checks} checks on {RANKS} ranks", flush=True)
