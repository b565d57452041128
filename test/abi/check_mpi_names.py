#!/usr/bin/env python3
"""Checks that a libucg_mpi exports the functions that its MPI needs, and nothing else.

A library that exports nothing can be loaded, too, but programs would then run on the MPI alone. A missing blocking
function would sometimes let the other ranks wait for ever. The functions are those that the MPI's headers declare, so
they follow its version; mpi-names.txt lists functions that need not be exported.
"""
import argparse
import re
import sys
from pathlib import Path

from check_exports import exported

HEADERS = ("mpi.h", "mpi_proto.h", "mpio.h", "mpi-ext.h", "openmpi/mpiext/mpiext_pcollreq_c.h")


def rules(path):
    """Patterns of functions that are served, of local ones, and of functions of another version of the MPI."""
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
    have, declared_names = exported(args.library, args.nm), declared(args.include)
    serves, local, other = rules(args.names)
    want = needed(declared_names, serves, local)
    problems = [f"does not export {name}" for name in sorted(want - have)]
    problems += [f"exports {name}, which libucg_mpi does not need to serve" for name in sorted((have - want) & declared_names)]
    problems += [f"exports {name}, which the MPI does not have" for name in sorted(have - want - declared_names)
                 if not one_of(other, name)]
    if len(want) < 100:
        problems.append(f"has {len(want)} functions to export only: {args.include} is no folder of an MPI's headers")
    for problem in problems:
        print(f"{args.library} {problem}")
    print(f"{len(have)} symbols, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
