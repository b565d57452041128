#!/usr/bin/env python3
"""Checks the symbols that a shared library exports and the libraries that it needs.

Its dynamic symbols must be exactly those of a list (one per line, '#' starts a comment), each of
them declared by a public header. It must need certain other libraries, must not need others, and
must not take symbols from those that it brings along for its clients.
"""
import argparse
import re
import subprocess
import sys

import abi_text


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def exported(library, nm):
    lines = output(nm, "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def imported(library, nm):
    lines = output(nm, "-D", "--undefined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def needed(library, readelf):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output(readelf, "-dW", library)))


def listed(path):
    with open(path) as file:
        return {line.split("#")[0].strip() for line in file} - {""}


def declared(args):
    if not args.header or not args.clang or args.clang.endswith("-NOTFOUND"):
        return None
    tree = abi_text.syntax_tree(args, args.header)
    found = abi_text.Declarations(tree)
    return set(found.functions) | set(found.variables)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--list", required=True, help="file with the wanted symbols")
    parser.add_argument("--forbid", action="append", default=[], help="start of a library's name")
    parser.add_argument("--require", action="append", default=[], help="name of a library")
    parser.add_argument("--no-import", action="append", default=[], help="start of a symbol")
    parser.add_argument("--header", action="append", help="public header, below --include")
    parser.add_argument("--include")
    parser.add_argument("--clang")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--readelf", default="readelf")
    args = parser.parse_args()

    problems = []
    have, want = exported(args.library, args.nm), listed(args.list)
    problems += [f"exports {name}, which is not listed" for name in sorted(have - want)]
    problems += [f"does not export {name}" for name in sorted(want - have)]
    known = declared(args)
    if known is not None:
        problems += [f"exports {name}, which no public header declares"
                     for name in sorted(have - known)]
    libraries = needed(args.library, args.readelf)
    problems += [f"needs {name}" for name in sorted(libraries) if name.startswith(tuple(args.forbid))]
    problems += [f"does not need {name}" for name in sorted(set(args.require) - libraries)]
    problems += [f"imports {name}" for name in sorted(imported(args.library, args.nm))
                 if name.startswith(tuple(args.no_import))]
    for problem in problems:
        print(f"{args.library} {problem}")
    print(f"{len(have)} symbols, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
