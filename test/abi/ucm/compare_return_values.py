#!/usr/bin/env python3
"""Runs sequences of libucm's functions over this library and over OpenUCX's, and compares.

Each sequence runs in a process of its own. A result that differs must be in DIFFERENT with its
reason, and a reason whose results have become equal is reported, too.
"""
import argparse
import os
import subprocess
import sys

MMAP, MUNMAP, MREMAP, SHMAT, SHMDT, SBRK, MADVISE, BRK = (1 << bit for bit in range(8))
MAPPED, UNMAPPED, ALLOC, FREE = 1 << 16, 1 << 17, 1 << 20, 1 << 21
NO_INSTALL, EXISTING, UNKNOWN = 1 << 24, 1 << 25, 1 << 30
KINDS = {"mmap": MMAP, "munmap": MUNMAP, "mremap": MREMAP, "madvise": MADVISE,
         "shmat": SHMAT, "shmdt": SHMDT, "mapped": MAPPED, "unmapped": UNMAPPED}

SEQUENCES = {
    "nothing is declared": [("test_external", UNMAPPED), ("test_external", MAPPED | UNMAPPED),
                            ("test_external", -1)],
    "nothing is handled": [("test", kind) for kind in
                           (UNMAPPED, MAPPED | UNMAPPED, *KINDS.values(), BRK, SBRK, ALLOC, FREE)],
    "a silent source beside a handler": [
        ("hook_mode", 0), ("declare", UNMAPPED), ("handle", UNMAPPED),
        ("test_external", UNMAPPED), ("test_external", MAPPED), ("test", UNMAPPED)],
    "a source that withdraws": [
        ("hook_mode", 0), ("declare", UNMAPPED), ("withdraw", UNMAPPED),
        ("test_external", UNMAPPED), ("handle", UNMAPPED)],
    "no reporter": [("hook_mode", 0), ("handle", UNMAPPED), ("test", UNMAPPED),
                          ("handle", MUNMAP), ("test", MUNMAP)],
    "a handler for all events": [
        ("hook_mode", 0), ("handle", UNMAPPED | NO_INSTALL), ("test", UNMAPPED),
        ("test_external", UNMAPPED), ("unhandle", UNMAPPED)],
    "a handler with replaced functions": [
        ("handle", UNMAPPED), ("test", UNMAPPED), ("test_external", UNMAPPED),
        ("declare", UNMAPPED), ("test_external", UNMAPPED), ("unhandle", UNMAPPED),
        ("test", UNMAPPED)],
    "a handler of no events": [("handle", 0), ("handle", NO_INSTALL), ("handle", EXISTING)],
    "unknown events": [("handle", UNKNOWN), ("handle", UNKNOWN | NO_INSTALL)],
    "events of sbrk": [("handle", SBRK), ("handle", SBRK | NO_INSTALL), ("test", SBRK)],
    "events of device memory": [("hook_mode", 0), ("handle", ALLOC | FREE), ("test", ALLOC)],
} | {f"a silent source of {name}": [("hook_mode", 0), ("declare", kind), ("test_external", kind),
                                    ("test", kind)]
     for name, kind in KINDS.items()}

# (sequence, position): the reason why this library returns another result.
DIFFERENT = {
    ("events of device memory", 1):
        "the CUDA driver is not loaded, and a handler that waits for its memory must know",
}


def answers(program, library, sequence):
    words = [str(word) for operation in sequence for word in operation]
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("UCX_")}
    done = subprocess.run([program, library, *words], text=True, timeout=60, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        return [f"exit status {done.returncode}: {done.stderr.strip()}"]
    return done.stdout.splitlines()


def compare(args):
    problems = []
    for name, sequence in SEQUENCES.items():
        own_results = answers(args.program, args.ours, sequence)
        openucx_results = answers(args.program, args.theirs, sequence)
        if len(own_results) != len(sequence) or len(openucx_results) != len(sequence):
            problems.append(f"{name}: {own_results} here, {openucx_results} in OpenUCX")
            continue
        for position, operation in enumerate(sequence):
            equal = own_results[position] == openucx_results[position]
            if equal == ((name, position) in DIFFERENT):
                problems.append(f"{name}: {operation[0]} {operation[1]:#x} returns "
                                f"{own_results[position]} here, {openucx_results[position]} in OpenUCX")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built return_values.c")
    parser.add_argument("--ours", required=True, help="this library's libucm")
    parser.add_argument("--theirs", default="/usr/lib/x86_64-linux-gnu/libucm.so.0")
    args = parser.parse_args()
    if not os.path.exists(args.theirs):
        print(f"skipped: OpenUCX is not installed ({args.theirs})")
        return 77
    problems = compare(args)
    for problem in problems:
        print(problem)
    print(f"{len(SEQUENCES)} sequences, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
