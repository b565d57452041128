"""contrib/includes.py, shared by contrib/draw-layers and contrib/check-layers: arrows, cycles, and an outdated page."""

import unittest
from pathlib import Path

from processes import folder_of, load_script

MODULE = Path(__file__).resolve().parents[3] / "contrib/includes.py"
ORDER = {"ucp": "api <- core <- tag am <- families/*"}
FILES = {
    "ucp/api/ucp.h": "",
    "ucp/core/peer.hpp": '#include "ucp/api/ucp.h"\n#include "ucp/tag/flow.hpp"\n',
    "ucp/core/peer.cpp": '#include "ucp/core/peer.hpp"\n  #  include "ucp/am/am.hpp"\n',
    "ucp/tag/flow.hpp": '#include <vector>\n#include "ucp/core/wire.hpp"\n',
    "ucp/tag/match/queue.hpp": '#include "ucp/tag/flow.hpp"\n',
    "ucp/am/am.hpp": "// No includes.\n",
    "ucp/families/ring/ring.cpp": '#include "ucp/api/ucp.h"\n',
}
ROWS = ["   api",
        "<- core        -> api  UP-> am tag",
        "<- tag         -> core",
        "   am",
        "<- families/*  -> api"]


includes = load_script(MODULE)


class Diagram(unittest.TestCase):
    def setUp(self):
        self.root = folder_of(self)
        for name, text in FILES.items():
            self.write(name, text)
        names = "".join(f"`ucp/{folder}`\n" for folder in ("api", "core", "tag", "am", "families/*"))
        self.page = f"# Layers\n\n{names}\n{includes.diagram(self.layers())}\n"
        self.write(includes.PAGE, self.page)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def layers(self):
        return includes.layers(self.root, ORDER)

    def problems(self):
        return list(includes.diagram_problems(self.root, ORDER))

    def test_rows(self):
        self.assertEqual(list(self.layers()[0].lines()), ROWS)

    def test_cycles_of_headers(self):
        self.assertEqual(self.layers()[0].cycles(), [{"core", "tag"}])

    def test_page_that_is_right(self):
        self.assertEqual(self.problems(), [])

    def test_wrong_arrow(self):
        self.write(includes.PAGE, self.page.replace("UP-> am tag", "UP-> tag"))
        line = self.page.splitlines().index(ROWS[1]) + 1
        self.assertEqual([number for number, _ in self.problems()], [line])

    def test_missing_row(self):
        self.write(includes.PAGE, self.page.replace(ROWS[-1] + "\n", ""))
        self.assertEqual(len(self.problems()), 1)

    def test_new_include(self):
        self.write("ucp/am/am.hpp", '#include "ucp/tag/flow.hpp"\n')
        line = self.page.splitlines().index(ROWS[3]) + 1
        self.assertEqual([number for number, _ in self.problems()], [line])

    def test_missing_markers(self):
        self.write(includes.PAGE, self.page.replace(includes.END, ""))
        self.assertEqual(len(self.problems()), 1)

    def test_folder_without_place_or_name(self):
        self.write("ucp/rma/put.cpp", '#include "ucp/api/ucp.h"\n')
        self.write(includes.PAGE, self.page.replace("`ucp/am`", ""))
        texts = [text for _, text in self.problems()]
        self.assertEqual(len(texts), 2)
        self.assertIn("ucp/rma has no place", texts[0])
        self.assertIn("`ucp/am`", texts[1])
