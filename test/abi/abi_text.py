#!/usr/bin/env python3
"""Writes the binary interface that public headers declare as sorted lines of text.

The names come from Clang's syntax tree and from the preprocessor, so none can be forgotten; the
numbers come from a C program that is compiled against the same headers and run. Lines:

    size TYPE BYTES                     field TYPE.PATH OFFSET BYTES C-TYPE
    enumerator NAME VALUE               alias NAME C-TYPE
    function NAME C-TYPE                variable NAME C-TYPE
    macro NAME VALUE                    macro NAME(ARITY)
    expression TEXT VALUE
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

PREFIX = re.compile(r"^(uc[pstmg]_|UC[PSTMG]_)")
UNNAMED = re.compile(r"\((unnamed|anonymous)")


def run(command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def includes(headers):
    return "".join(f"#include <{header}>\n" for header in headers)


class Declarations:
    """Declarations of one syntax tree with our prefixes."""

    def __init__(self, tree):
        self.types = {}        # spelling of the type in C -> its RecordDecl or EnumDecl
        self.enumerators = set()
        self.functions = {}
        self.variables = {}
        self.aliases = {}
        self.by_id = {}
        for node in tree["inner"]:
            self.visit(node)

    def visit(self, node):
        kind, name = node["kind"], node.get("name", "")
        if kind in ("RecordDecl", "EnumDecl"):
            self.visit_tag(node, kind, name)
        elif not PREFIX.match(name):
            return
        elif kind == "FunctionDecl":
            self.functions[name] = node["type"]["qualType"]
        elif kind == "VarDecl":
            self.variables[name] = node["type"]["qualType"]
        elif kind == "TypedefDecl":
            self.visit_typedef(node, name)

    def visit_tag(self, node, kind, name):
        complete = kind == "EnumDecl" or node.get("completeDefinition")
        if not complete:
            return
        self.by_id[node["id"]] = node
        if PREFIX.match(name):
            tag = node.get("tagUsed", "enum") if kind == "RecordDecl" else "enum"
            self.types[f"{tag} {name}"] = node
        if kind == "EnumDecl":
            self.enumerators.update(inner["name"] for inner in node.get("inner", [])
                                    if inner["kind"] == "EnumConstantDecl"
                                    and PREFIX.match(inner["name"]))

    def visit_typedef(self, node, name):
        owned = [inner.get("ownedTagDecl") or inner.get("inner", [{}])[0].get("decl")
                 for inner in node.get("inner", []) if inner["kind"] == "ElaboratedType"]
        target = self.by_id.get(owned[0]["id"]) if owned and owned[0] else None
        if target is not None:
            self.types[name] = target
        else:
            self.aliases[name] = node["type"]["qualType"]

    def finish(self, tree):
        """Resolves typedefs that were written before the structure was complete."""
        complete = {name.split()[1]: node for name, node in self.types.items() if " " in name}
        for name, written in list(self.aliases.items()):
            match = re.match(r"^(struct|union|enum) (\w+)$", written)
            if match and match.group(2) in complete:
                self.types[name] = complete[match.group(2)]
                del self.aliases[name]


def fields(record, path=""):
    """Yields (path, C type) of every member; members of unnamed structures have their full path."""
    unnamed = None
    for node in record.get("inner", []):
        if node["kind"] == "RecordDecl":
            unnamed = node
        elif node["kind"] == "FieldDecl":
            written = node["type"]["qualType"]
            name = f"{path}{node['name']}"
            if UNNAMED.search(written):
                yield name, "-"
                yield from fields(unnamed, f"{name}.")
            else:
                yield name, written


def syntax_tree(args, headers):
    command = [args.clang, "-Xclang", "-ast-dump=json", "-fsyntax-only", "-x", "c",
               "-I", args.include, "-"]
    return json.loads(run(command, input=includes(headers)))


def macros(args, headers):
    """Yields (name, parameters or None, replacement)."""
    text = run([args.cc, "-E", "-dM", "-x", "c", "-I", args.include, "-"], input=includes(headers))
    for line in text.splitlines():
        match = re.match(r"#define (\w+)(\([^)]*\))?(?: (.*))?$", line)
        if match and PREFIX.match(match.group(1)) and not match.group(1).endswith("_H_"):
            if not match.group(1).endswith("_H"):
                yield match.group(1), match.group(2), match.group(3) or ""


def arity(parameters):
    inside = parameters[1:-1].strip()
    return 0 if not inside else len(inside.split(","))


def probe_source(headers, declared, valued_macros, expressions):
    out = ["#include <stdio.h>", includes(headers), "int main(void) {"]

    def line(text, *values):
        arguments = "".join(f", (long long)({value})" for value in values)
        out.append(f'    printf("{text}\\n"{arguments});')

    for name, node in declared.types.items():
        line(f"size {name} %lld", f"sizeof({name})")
        for path, written in fields(node) if node["kind"] == "RecordDecl" else ():
            line(f"field {name}.{path} %lld %lld {written}",
                 f"__builtin_offsetof({name}, {path})", f"sizeof((({name}*)0)->{path})")
    for name in declared.enumerators:
        line(f"enumerator {name} %lld", name)
    for name in valued_macros:
        out.append(f'    printf(_Generic((0, {name}), char*: "macro {name} %s\\n", '
                   f'default: "macro {name} %lld\\n"), {name});')
    for text in expressions:
        line(f"expression {text.replace('%', '%%')} %lld", text)
    return "\n".join(out + ["    return 0;", "}", ""])


def compiles(args, headers, expression, folder):
    source = os.path.join(folder, "one.c")
    with open(source, "w") as file:
        file.write(f"{includes(headers)}\nint main(void) {{ return !(0, {expression}); }}\n")
    return subprocess.run([args.cc, "-w", "-I", args.include, "-fsyntax-only", source],
                          stderr=subprocess.DEVNULL).returncode == 0


def measure(args, headers, declared, object_macros, expressions):
    with tempfile.TemporaryDirectory() as folder:
        valued = [name for name in object_macros if compiles(args, headers, name, folder)]
        source, program = os.path.join(folder, "probe.c"), os.path.join(folder, "probe")
        with open(source, "w") as file:
            file.write(probe_source(headers, declared, valued, expressions))
        run([args.cc, "-w", "-std=gnu11", "-I", args.include, source, "-o", program])
        return run([program]).splitlines(), [m for m in object_macros if m not in valued]


def describe(args, headers):
    tree = syntax_tree(args, headers)
    declared = Declarations(tree)
    declared.finish(tree)
    found = list(macros(args, headers))
    object_macros = sorted(name for name, parameters, _ in found if parameters is None)
    expressions = []
    if args.expressions:
        with open(args.expressions) as file:
            expressions = [text.strip() for text in file if text.strip() and text[0] != "#"]
    lines, plain = measure(args, headers, declared, object_macros, expressions)
    lines += [f"macro {name}" for name in plain]
    lines += [f"macro {name}({arity(parameters)})" for name, parameters, _ in found if parameters]
    for word, table in (("function", declared.functions), ("variable", declared.variables),
                        ("alias", declared.aliases)):
        lines += [f"{word} {name} {written}" for name, written in table.items()]
    return sorted(set(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--include", required=True, help="folder that the headers lie below")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--expressions", help="file with C expressions to evaluate, one per line")
    parser.add_argument("headers", nargs="+")
    args = parser.parse_args()
    print("\n".join(describe(args, args.headers)))


if __name__ == "__main__":
    sys.exit(main())
