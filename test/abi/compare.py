#!/usr/bin/env python3
"""Compares our public headers with Debian's and with the table of newer versions.

Nothing may be missing, different or added without a line in one of the tables in this folder.
Exit status: 0 equal, 1 different, 77 nothing to compare with.
"""
import argparse
import os
import re
import sys

import abi_text

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77


def key_of(line):
    """The key of a line: its kind of fact and the name."""
    return re.match(r"^(size|field) ((?:struct |union |enum )?[\w.]+)|^(\w+) (\S+)", line).group(
        *((1, 2) if line.startswith(("size ", "field ")) else (3, 4)))


def plain(name):
    """Writes a type by its typedef instead of its tag: 'struct x.y' is 'x_t.y'."""
    match = re.match(r"^(?:struct|union|enum) (\w+)(.*)$", name)
    return f"{match.group(1)}_t{match.group(2)}" if match else name


def table(name):
    with open(os.path.join(HERE, name)) as file:
        for line in file:
            line = line.split("#")[0].rstrip()
            if line:
                yield line


def parse_newer():
    """Yields (kind, name, numbers as text) from newer-api.txt."""
    for line in table("newer-api.txt"):
        kind, head, body = re.match(r"^([ES]) (.*) \{(.*)\}$", line).groups()
        if kind == "E":
            for item in body.split():
                yield ("enumerator", *item.split("="))
        else:
            name, size = head.split(" size=")
            yield "size", name, size
            for item in body.split():
                path, offset, length = re.match(r"^(.*)@(\d+):(\d+)$", item).groups()
                yield "field", f"{name}.{path}", f"{offset} {length}"


class Comparison:
    def __init__(self, lines, chosen):
        self.lines = {key_of(line): line for line in lines}
        self.chosen = {key_of(line): line for line in table(chosen)}
        self.left_out = {line.split()[0] for line in table("not-declared.txt")}
        self.newer = {(kind, name): numbers for kind, name, numbers in parse_newer()}
        self.problems = []

    def numbers(self, key):
        """Our line for a key, in the form of the table of newer versions."""
        line = self.lines.get(key)
        if line is None:
            return None
        rest = line[len(f"{key[0]} {key[1]} "):]
        return " ".join(rest.split(" ")[:2]) if key[0] == "field" else rest

    def problem(self, text):
        self.problems.append(text)

    def check_tables(self):
        for key, line in self.chosen.items():
            if self.lines.get(key) != line:
                self.problem(f"the table says '{line}', we have '{self.lines.get(key)}'")
        for word, name in self.lines:
            if plain(name) in self.left_out or name in self.left_out:
                self.problem(f"not-declared.txt lists {word} {name}, but we declare it")

    def check_newer(self):
        for (kind, name), numbers in self.newer.items():
            if (kind, name) in self.chosen or name in self.left_out:
                continue
            if name.split(".")[0] in self.left_out or not self.concerns_us(kind, name):
                continue
            have = self.numbers((kind, name))
            if have != numbers:
                self.problem(f"newer-api.txt has {kind} {name} {numbers}, we have {have}")

    def concerns_us(self, kind, name):
        # The table covers types of functions that only another library's libucs has.
        return not (kind != "enumerator" and name.split(".")[0].startswith("ucs_")
                    and ("size", name.split(".")[0]) not in self.lines)

    def allowed_difference(self, key):
        if key in self.chosen:
            return True
        if key[1] in self.left_out:
            return key not in self.lines
        typedef = ("size", plain(key[1]))
        if key[0] != "size":
            return False
        wanted = self.chosen.get(typedef)
        wanted = wanted.rsplit(" ", 1)[1] if wanted else self.newer.get(typedef)
        return wanted is not None and self.numbers(key) == wanted

    def check_debian(self, debian):
        debian_lines = {key_of(line): line for line in debian}
        for key, line in debian_lines.items():
            if self.lines.get(key) != line and not self.allowed_difference(key):
                self.problem(f"Debian has '{line}', we have '{self.lines.get(key)}'")
        for key, line in self.lines.items():
            if key not in debian_lines and not self.known_addition(key):
                self.problem(f"neither Debian nor a table has '{line}'")

    def known_addition(self, key):
        word, name = key
        typedef = (word, plain(name))
        if key in self.chosen or typedef in self.chosen or typedef in self.newer:
            return True
        # The table of newer versions names enumerators, and members by number only.
        return word == "size" and name.startswith("enum ")

    def check_subset(self, debian):
        """For interfaces that are offered in part: that part must equal Debian's."""
        debian_lines = {key_of(line): line for line in debian}
        for key, line in self.lines.items():
            if debian_lines.get(key) != line and not self.allowed_difference(key):
                if key in debian_lines or not self.known_addition(key):
                    self.problem(f"Debian has '{debian_lines.get(key)}', we have '{line}'")


def describe(args, include):
    args.include = include
    return abi_text.describe(args, args.headers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", required=True, help="include folder of our headers")
    parser.add_argument("--debian", help="include folder of libucx-dev")
    parser.add_argument("--subset", action="store_true", help="we offer only a part on purpose")
    parser.add_argument("--chosen", default="chosen.txt", help="table of our own lines")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--expressions")
    parser.add_argument("headers", nargs="+")
    args = parser.parse_args()

    if not args.clang or args.clang.endswith("-NOTFOUND"):
        print("skipped: clang, which lists what headers declare, is not installed")
        return SKIP
    if args.debian and not os.path.exists(os.path.join(args.debian, args.headers[0])):
        print(f"skipped: libucx-dev is not installed (no {args.headers[0]} below {args.debian})")
        return SKIP

    comparison = Comparison(describe(args, args.ours), args.chosen)
    comparison.check_tables()
    if args.debian:
        debian = describe(args, args.debian)
        if args.subset:
            comparison.check_subset(debian)
        else:
            comparison.check_debian(debian)
    else:
        comparison.check_newer()
    print("\n".join(comparison.problems))
    print(f"{len(comparison.lines)} facts, {len(comparison.problems)} problems")
    return 1 if comparison.problems else 0


if __name__ == "__main__":
    sys.exit(main())
