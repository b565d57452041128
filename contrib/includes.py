"""Reads the #include lines of the layers: which folder includes which, and which arrows go up against ORDER.

contrib/check-layers and contrib/draw-layers use this module.
"""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ["ucm", "ucs", "uct", "ucp", "ucg", "tools"]
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh"}
HEADERS = {".h", ".hpp", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# The wanted order of the folders of each layer: a folder includes folders of its own group and of the groups to its left.
# A sub-folder without an entry belongs to its parent; `algo/*` stands for all sub-folders of algo that have no entry.
ORDER = {
    "ucm": "api <- event <- hook <- cuda <- capi",
    "ucs": "type wire <- random <- datastruct <- time <- sys <- arch log <- config <- descriptor <- async debug security topology"
           " <- cuda net vfs <- stats vfs/fuse <- memory <- settings <- capi",
    "uct": "api <- base <- cuda/base ib/base sm/base <- ib/rc/base ib/rdmacm ib/ud/base sm/memory"
           " <- cuda/copy cuda/ipc ib/rc/verbs ib/ud/verbs self sim sm/cma sm/posix tcp <- components <- capi",
    "ucp": "api <- address dt log mem tag/match <- core <- staging wireup proto <- eager rndv <- tag am stream rma amo"
           " <- cm wakeup vfs <- features <- capi",
    "ucg": "api reduce <- cuda schedule <- algo/common reference <- algo/* moe net node <- algo <- select <- core sim <- capi <- mpi oob",
    "tools": "common <- info perf/core ucg_perf ucg_sim vfs <- perf/net <- perf/ucp perf/uct <- perf",
}
# Files that belong to another folder than the one that clients of the C interface expect them in.
PLACED = {"ucs/sys/compiler_def.h": "type", "ucs/memory/memory_type.h": "type"}
PAGE = "docs/layers.md"
BEGIN = "<!-- Written by contrib/draw-layers: begin -->"
END = "<!-- Written by contrib/draw-layers: end -->"


def sources(root, layer):
    """The source files of a layer in alphabetical order."""
    return [path for path in sorted((root / layer).rglob("*")) if path.suffix in SUFFIXES and path.is_file()]


def includes_of(path):
    """Yields the #include lines of a file as (line number, opening quote, name)."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def groups_of(order):
    return [group.split() for group in order.split("<-")]


class Layer:
    """The folders of one layer and the includes between them."""

    def __init__(self, root, name, order):
        self.name = name
        self.groups = groups_of(order)
        self.level = {folder: level for level, group in enumerate(self.groups) for folder in group}
        self.used, self.unplaced = set(), set()
        self.arrows = {}  # (folder, included folder) -> list of (path from the root, included name)
        for path in sources(root, name):
            shown = path.relative_to(root).as_posix()
            folder = self.place(shown)
            for _, _, included in includes_of(path):
                if included.startswith(name + "/") and (target := self.place(included)) != folder:
                    self.arrows.setdefault((folder, target), []).append((shown, included))

    def place(self, file):
        """The folder of ORDER that a file belongs to."""
        folder = PLACED.get(file) or file.rpartition("/")[0].partition("/")[2]
        found, parent = folder if folder in self.level else None, folder
        while found is None and "/" in parent:
            parent = parent.rpartition("/")[0]
            found = next((each for each in (f"{parent}/*", parent) if each in self.level), None)
        if found is None:
            self.unplaced.add(folder)
        self.used.add(found)
        return found

    def is_up(self, folder, target):
        return self.level.get(target, -1) > self.level.get(folder, -1)

    def lines(self):
        """The rows of the diagram: a folder, the folders that it includes, and those above it that it includes as well."""
        width = max(map(len, self.level))
        for level, group in enumerate(self.groups):
            for index, folder in enumerate(group):
                targets = sorted(target for source, target in self.arrows if source == folder and target)
                text = f"{'<-' if level and not index else '  '} {folder:{width}}"
                for mark, up in (("  ->", False), ("  UP->", True)):
                    if chosen := [target for target in targets if self.is_up(folder, target) == up]:
                        text += " ".join([mark, *chosen])
                yield text.rstrip()

    def cycles(self):
        """Sets of folders whose headers include each other in a circle."""
        direct = {}
        for (folder, target), places in self.arrows.items():
            if any(Path(path).suffix in HEADERS for path, _ in places):
                direct.setdefault(folder, set()).add(target)
        reached = {}
        for folder in direct:
            found, waiting = set(), [folder]
            while waiting:
                new = direct.get(waiting.pop(), set()) - found
                found |= new
                waiting += new
            reached[folder] = found
        circles = {frozenset(each for each in reached if each in reached[folder] and folder in reached[each])
                   for folder in reached if folder in reached[folder]}
        return sorted(circles, key=lambda circle: sorted(map(str, circle)))


def layers(root=ROOT, order=None):
    return [Layer(root, name, text) for name, text in (order or ORDER).items()]


def diagram(all_layers):
    """The text between the two marker comments of the page."""
    rows = [row for layer in all_layers for row in ["", layer.name, *layer.lines()]]
    return "\n".join([BEGIN, "```", *rows[1:], "```", END])


def marked(text):
    """Beginning and end of the block in the text of the page; None if a marker is missing."""
    begin, end = text.find(BEGIN), text.find(END)
    return (begin, end + len(END)) if 0 <= begin < end else None


def diagram_problems(root=ROOT, order=None):
    """Yields as (line number, text): folders without a place in ORDER or in the page, and a diagram that is out of date."""
    text = (root / PAGE).read_text()
    all_layers = layers(root, order)
    for layer in all_layers:
        for folder in sorted(layer.unplaced):
            yield 1, f"{layer.name}/{folder} has no place in ORDER of contrib/includes.py"
        for folder in layer.level:
            if folder not in layer.used:
                yield 1, f"{layer.name}/{folder} of ORDER in contrib/includes.py has no files"
            if f"`{layer.name}/{folder}`" not in text:
                yield 1, f"the table does not name `{layer.name}/{folder}`"
    if not (place := marked(text)):
        yield 1, f"the lines {BEGIN} and {END} are missing"
        return
    first = text.count("\n", 0, place[0]) + 1
    drawn, wanted = text[slice(*place)].splitlines(), diagram(all_layers).splitlines()
    for index in range(max(len(drawn), len(wanted))):
        has, needs = (lines[index] if index < len(lines) else "nothing" for lines in (drawn, wanted))
        if has != needs:
            yield first + index, f"the diagram has `{has.strip()}`, the includes give `{needs.strip()}`; run contrib/draw-layers"
            return
