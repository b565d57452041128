#!/usr/bin/env python3
"""Checks that a libucg_mpi exports the functions of MPI that its sources define, and nothing else.

One that exports none of them can be loaded as well, and programs then run on the MPI alone. Which
names there are depends on the MPI's version, so the check leaves out sources that are empty for some.
"""
import argparse
import re
import sys
from pathlib import Path

from check_exports import exported

# Large counts are of MPI 4, persistent collectives have other names in Open MPI 4.
DEPENDS_ON_VERSION = {"collectives_large.cpp", "collectives_persistent.cpp"}


def defined(folder):
    names = set()
    for source in sorted(Path(folder).glob("*.cpp")):
        if source.name not in DEPENDS_ON_VERSION:
            names |= set(re.findall(r"^int (MPI_\w+)\(", source.read_text(), re.M))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--sources", required=True, help="folder of ucg/mpi")
    parser.add_argument("--nm", default="nm")
    args = parser.parse_args()

    have, want = exported(args.library, args.nm), defined(args.sources)
    problems = [f"does not export {name}" for name in sorted(want - have)]
    problems += [f"exports {name}, which is not a function of MPI" for name in sorted(have)
                 if not re.fullmatch(r"MPIX?_[A-Z]\w+", name)]
    if not want:
        problems.append(f"has no function of MPI in {args.sources}")
    for problem in problems:
        print(f"{args.library} {problem}")
    print(f"{len(have)} symbols, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
