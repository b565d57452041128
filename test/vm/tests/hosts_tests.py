"""Two hosts and the network between them."""

import contextlib

from catalog import on
from machine import Gone, first_to_end
from programs import LIMIT, OPENUCX, await_state, await_traffic, devices, iterations_done, pingpong, ucx_perftest
from variants import HOSTS

ENDLESS = 100_000_000  # iterations


@contextlib.contextmanager
def unplugged(guest):
    guest.cable(0, plugged=False)
    try:
        yield
    finally:
        guest.cable(0, plugged=True)


@on(HOSTS)
def they_play_pingpong(one, two):
    for job in pingpong(one, two, iterations=200):
        assert iterations_done(job) == 200


@on(HOSTS)
def pingpong_waits_for_a_cut_cable(one, two):
    """Soft RoCE repeats for ever what is sent with 7 retries, which is what ibv_rc_pingpong asks for."""
    jobs = pingpong(one, two, ENDLESS)
    await_traffic(one)
    with unplugged(one):
        await_state(one, "DOWN")
        assert devices(two)["rxe0"]["state"] == "PORT_ACTIVE"
    await_state(one, "ACTIVE")
    await_traffic(one)
    assert [job.status for job in jobs] == [None, None], [job.output() for job in jobs]


@on(HOSTS)
def cut_cable_breaks_openucx(one, two):
    """Of the two sides at least one has sent what is not answered; the other one may wait for ever."""
    settings = f"{OPENUCX} UCX_RC_VERBS_RETRY_COUNT=2 UCX_RC_VERBS_TIMEOUT=100ms UCX_HANDLE_ERRORS=none"
    jobs = ucx_perftest(one, two, f"-t ucp_put_lat -s 8 -n {ENDLESS}", settings, "10.9.0.1")
    await_traffic(one)
    with unplugged(one):
        broken = first_to_end(jobs, LIMIT)
        assert broken.status != 0 and "retry counter exceeded" in broken.output(), broken.output()


@on(HOSTS)
def killed_guest_is_noticed(one, two):
    job = two.start("sleep 1000")
    two.kill()
    for ask in (lambda: job.wait(LIMIT), lambda: two.run("true", LIMIT)):
        try:
            ask()
        except Gone as gone:
            assert "host 2" in str(gone), gone
        else:
            raise AssertionError("it answered")
    one.check("true", LIMIT)
