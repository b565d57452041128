"""Connects this terminal with shells in guests."""

import contextlib
import os
import select
import shutil
import sys
import termios
import tty

SWITCH = b"\x1d"  # control-]
UNPLUG = b"\x1c"  # control-\\


@contextlib.contextmanager
def _raw(file):
    """Passes every key through, also control-C. If the input is not a terminal, it is left unchanged."""
    if not os.isatty(file):
        yield
        return
    before = termios.tcgetattr(file)
    try:
        tty.setraw(file)
        yield
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)


def _start(guest):
    columns, rows = shutil.get_terminal_size()
    return guest.start(f"exec <>/dev/ttyS2 >&0 2>&0; stty sane rows {rows} columns {columns}; exec bash -i",
                       environment={"TERM": os.environ.get("TERM", "dumb")})


def shells(guests):
    """A shell in each guest, until one of them ends. Shows one at a time."""
    jobs = [_start(guest) for guest in guests]
    shown = 0
    names = ", ".join(guest.story("").split(":")[0] for guest in guests)
    print(f"A shell on {names}. `exit` ends it, control-\\ does even where nothing answers"
          + ("; control-] goes to the next host." if len(guests) > 1 else "."), flush=True)
    keys, heard = [sys.stdin.fileno()], False
    with _raw(sys.stdin.fileno()):
        while all(job.status is None for job in jobs):
            # Keys that are typed before the shell runs would be lost.
            for ready in select.select([*(keys if heard else []), guests[shown].shell, *guests], [], [])[0]:
                if ready in guests:
                    ready.receive()
                elif ready is guests[shown].shell:
                    os.write(sys.stdout.fileno(), ready.recv(4096))
                    heard = True
                else:
                    typed = os.read(ready, 1024)
                    if not typed:
                        keys, typed = [], b"\nexit\n"  # the input was a file or a pipe
                    if UNPLUG in typed:
                        return
                    before, switch, after = typed.partition(SWITCH)
                    guests[shown].shell.sendall(before)
                    shown = (shown + len(switch)) % len(guests)
                    guests[shown].shell.sendall(after)
