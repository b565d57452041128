"""The transport ud_verbs."""

from catalog import on
from programs import (LIMIT, await_traffic, cut_cable_ends_endpoint, outputs_of, passes, passes_conformance, perftest,
                      unplugged)
from variants import DEVICES, HOSTS

MESSAGES = ("am_lat -s 8 -D short", "am_bw -s 4000 -D bcopy", "am_bw -s 4000 -D zcopy")
LOSSY = "UCX_UD_VERBS_TEST_DROP=0.1 UCX_UD_VERBS_TEST_DUPLICATE=0.1 UCX_UD_VERBS_TEST_REORDER=0.1"


def measured(server, client, test, address, settings=""):
    outputs_of(perftest(server, client, f"-d rxe0:1 -x ud_verbs -V -w 10 -f -t {test}", settings, address))


@on(DEVICES)
def passes_the_conformance_suite(guest):
    passes_conformance(guest, "ud_verbs")


@on(DEVICES)
def limits_are_kept(guest):
    passes(guest, "test/vm/programs/ud_limits")


@on(DEVICES)
def perftest_carries_messages(guest):
    for test in MESSAGES:
        measured(guest, guest, f"{test} -n 100", "localhost")


@on(HOSTS)
def perftest_runs_between_hosts(one, two):
    measured(one, two, f"{MESSAGES[1]} -n 100", "10.9.0.1")
    measured(one, two, f"{MESSAGES[1]} -n 100", "10.9.0.1", LOSSY)


@on(HOSTS)
def pulled_cable_is_survived_when_it_comes_back(one, two):
    jobs = perftest(one, two, "-d rxe0:1 -x ud_verbs -V -f -t am_lat -s 8 -n 3000", address="10.9.0.1")
    await_traffic(one)
    with unplugged(one):
        one.check("sleep 0.5", LIMIT)  # packets are lost meanwhile, and repeated
    outputs_of(jobs)


@on(HOSTS)
def cut_cable_ends_the_endpoint(one, two):
    cut_cable_ends_endpoint(one, two, "ud_verbs", "UCX_UD_VERBS_TIMEOUT=1s")
