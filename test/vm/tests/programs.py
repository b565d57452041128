"""Programs that several tests run, and waits for them."""

import contextlib
import re

from catalog import tool
from machine import first_to_end

LIMIT = 100  # seconds for any reply; far more than needed
PORT = 18515
ENDLESS = 100_000_000  # iterations


def devices(guest):
    """Parses ibv_devinfo: name of each device, with a dictionary of its lines."""
    found = {}
    for line in guest.check("ibv_devinfo", LIMIT).splitlines():
        name, colon, value = line.strip().partition(":")
        if name == "hca_id":
            values = found[value.strip()] = {}
        elif colon and found:
            values[name] = value.split()[0] if value.strip() else ""
    return found


@contextlib.contextmanager
def unplugged(guest, card=0):
    guest.cable(card, plugged=False)
    try:
        yield
    finally:
        guest.cable(card, plugged=True)


def served(guest, server, port=PORT):
    """Starts a server that listens on a TCP port, and waits until it does."""
    # A killed predecessor may still be releasing its device.
    guest.check(f"while ss -Htln 'sport = {port}' | grep -q .; do sleep 0.1; done", LIMIT)
    job = guest.start(server)
    guest.check(f"until ss -Htln 'sport = {port}' | grep -q . || ! [ -d /proc/$(cat /run/guest/{job.name}.pid) ]; "
                "do sleep 0.1; done", LIMIT)
    return job


def pingpong(server, client, iterations, options=""):
    """A running ibv_rc_pingpong between two guests, or of one with itself; returns both jobs."""
    command = f"ibv_rc_pingpong -g 1 -p {PORT} -n {iterations} {options}"
    return served(server, command), client.start(f"{command} 10.9.0.{server.host}")


def await_traffic(guest):
    """Returns when more packets have arrived than a connection needs."""
    counter = "/sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts"
    guest.check(f"first=$(cat {counter}); until [ $(cat {counter}) -gt $((first + 50)) ]; do sleep 0.1; done", LIMIT)


def await_state(guest, state, device="rxe0"):
    """Returns the state of the port: ACTIVE or DOWN."""
    guest.check(f"until grep -q {state} /sys/class/infiniband/{device}/ports/1/state; do sleep 0.1; done", LIMIT)


# Version 1.13 derives the IP version from the service level, which soft RoCE does not set: that means version 6.
OPENUCX = "UCX_TLS=rc_verbs,ud_verbs UCX_IB_GID_INDEX=0"


def ucx_perftest(server, client, test, settings, address="localhost", program="/usr/bin/ucx_perftest"):
    """Starts ucx_perftest, OpenUCX's or ours; returns both jobs."""
    command = f"{settings} {program} -p 13337"
    return served(server, command, 13337), client.start(f"{command} {address} {test}")


def perftest(server, client, test, settings="", address="localhost"):
    """Starts the build's ucx_perftest; returns both jobs."""
    return ucx_perftest(server, client, test, settings, address, tool(server, "bin/ucx_perftest"))


def output_of(job):
    """Output of a run that succeeds."""
    result = job.wait(LIMIT)
    assert result.status == 0, f"{job.command} ended with {result.status}:\n{result.output}"
    return result.output


def outputs_of(jobs):
    """Outputs of a server and a client that succeed. A client that fails logs the reason, and its server keeps waiting."""
    return [output_of(job) for job in reversed(jobs)]


def passes(guest, command, settings="", limit=2 * LIMIT):
    """Output of a test program of the build that passes."""
    program, _, arguments = command.partition(" ")
    output = guest.check(f"{settings} {tool(guest, program)} {arguments}", limit)
    assert "All tests passed" in output, output
    return output


def passes_conformance(guest, transport):
    output = passes(guest, f"test/conformance/conformance '{transport}*'")
    assert "left out" not in output, output


def cut_cable_ends_endpoint(one, two, transport, settings):
    jobs = perftest(one, two, f"-d rxe0:1 -x {transport} -t am_lat -s 8 -n {ENDLESS}", settings, "10.9.0.1")
    await_traffic(one)
    with unplugged(one):
        broken = first_to_end(jobs, LIMIT)
        assert broken.status != 0 and "Endpoint timed out" in broken.output(), broken.output()


def iterations_done(job):
    """Output of a pingpong that succeeds."""
    return int(re.search(r"^(\d+) iters in", output_of(job), re.M).group(1))
