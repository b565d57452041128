"""Limits for a process under attack, and for the tests themselves."""

import os
import resource


def seeds():
    """One seed in short runs; STRANGER_SEEDS=100 for a long one."""
    return range(1, 1 + int(os.environ.get("STRANGER_SEEDS", "1")))


def allow_descriptors(case, wanted):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        case.skipTest(f"no more than {hard} descriptors are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def descriptors(pid):
    return os.listdir(f"/proc/{pid}/fd")


def memory(pid):
    """Resident memory in bytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
