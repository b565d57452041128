#!/usr/bin/env python3
"""Checks that a libucg_mpi exports what the MPI that it was built for needs it to, and nothing else.

One that exports nothing can be loaded as well, and programs then run on the MPI alone; and a blocking function that
is forgotten lets the other ranks wait for ever now and then. The functions are those that the MPI's headers declare, so
that its version is looked at by itself; mpi-names.txt says which of them need not be there.
"""
import argparse
import re
import sys
from pathlib import Path

from check_exports import exported

HEADERS = ("mpi.h", "mpi_proto.h", "mpio.h", "mpi-ext.h", "openmpi/mpiext/mpiext_pcollreq_c.h")


def rules(path):
    """Patterns of what is served, of what is local, and of what another version of the MPI has."""
    found = {"serves": [], "local": [], "other": []}
    for line in Path(path).read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            kind, pattern = words
            found[kind].append(re.compile(pattern))
    return found["serves"], found["local"], found["other"]


def declared(folder):
    names = set()
    for name in HEADERS:
        if (Path(folder) / name).exists():
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", (Path(folder) / name).read_text(), flags=re.S)
            names |= set(re.findall(r"\b(?:int|double|MPI_Aint|MPI_Fint)\s+(MPIX?_[A-Z]\w+)\s*\(", text))
    return names


def one_of(patterns, name):
    return any(each.fullmatch(name) for each in patterns)


def needed(names, serves, local):
    return {name for name in names if one_of(serves, name) or not one_of(local, name)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--include", required=True, help="folder of the mpi.h that the library was built with")
    parser.add_argument("--names", default=Path(__file__).with_name("mpi-names.txt"))
    parser.add_argument("--nm", default="nm")
    args = parser.parse_args()

    if not (Path(args.include) / "mpi.h").exists():
        print(f"SKIP: there is no {args.include}/mpi.h")
        return 77
    have, there = exported(args.library, args.nm), declared(args.include)
    serves, local, other = rules(args.names)
    want = needed(there, serves, local)
    problems = [f"does not export {name}" for name in sorted(want - have)]
    problems += [f"exports {name}, which needs nobody's help" for name in sorted((have - want) & there)]
    problems += [f"exports {name}, which the MPI does not have" for name in sorted(have - want - there)
                 if not one_of(other, name)]
    if len(want) < 100:
        problems.append(f"has {len(want)} functions to export only: {args.include} is no folder of an MPI's headers")
    for problem in problems:
        print(f"{args.library} {problem}")
    print(f"{len(have)} symbols, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
