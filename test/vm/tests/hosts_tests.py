"""Two hosts and the network between them."""

from catalog import on
from machine import Gone
from programs import ENDLESS, LIMIT, await_state, await_traffic, devices, iterations_done, pingpong, unplugged
from variants import HOSTS


@on(HOSTS)
def they_play_pingpong(one, two):
    for job in pingpong(one, two, iterations=200):
        assert iterations_done(job) == 200


@on(HOSTS)
def pingpong_waits_for_a_cut_cable(one, two):
    """Soft RoCE retries for ever with a retry count of 7, which ibv_rc_pingpong requests."""
    jobs = pingpong(one, two, ENDLESS)
    await_traffic(one)
    with unplugged(one):
        await_state(one, "DOWN")
        assert devices(two)["rxe0"]["state"] == "PORT_ACTIVE"
    await_state(one, "ACTIVE")
    await_traffic(one)
    assert [job.status for job in jobs] == [None, None], [job.output() for job in jobs]


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
