"""contrib/check-words finds each kind of unclear word, and accepts plain text."""

import unittest
from pathlib import Path

from processes import load_script

SCRIPT = Path(__file__).resolve().parents[3] / "contrib/check-words"


class Words(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load_script(SCRIPT)

    def lines(self, text, suffix=".cpp"):
        syntax, with_names = self.module.syntax_of(Path("file" + suffix))
        return [line for line, _ in self.module.complaints(text, syntax, with_names)]

    def test_openings_of_comments(self):
        self.assertEqual(self.lines("// What comes later.\nint a;\n"), [1])
        self.assertEqual(self.lines("int a;  // Nobody reads it\n"), [1])
        self.assertEqual(self.lines("/* Of the peer. */\n"), [1])
        self.assertEqual(self.lines("/** The peer.\n * Who asks is\n * answered. */\n"), [2])
        self.assertEqual(self.lines("// The peer closes. Whoever\n// waits is woken.\n"), [1])
        self.assertEqual(self.lines("// The peer closes.\n// Of its lanes\n// none is left.\n"), [2])
        self.assertEqual(self.lines("# Whom it names\n", ".py"), [1])
        self.assertEqual(self.lines('def f():\n    """What it does."""\n', ".py"), [2])
        self.assertEqual(self.lines("# Somebody else\nset(a b)\n", ".cmake"), [1])

    def test_names(self):
        self.assertEqual(self.lines("int f(int what);\nint g(int a, int by) {\n    return by;\n}\n"), [1, 2, 3])
        self.assertEqual(self.lines("int a = box.of;\n"), [1])
        self.assertEqual(self.lines("def f(here):\n    return 1\n", ".py"), [1])

    def test_plain_text_passes(self):
        self.assertEqual(self.lines("// The lane of the peer. See\n// What Every Programmer Should Know.\nint length;\n"), [])
        self.assertEqual(self.lines('const char* text = "What by here // Of what";\n'), [])
        self.assertEqual(self.lines("char c = '\"'; // The peer is at fault\n"), [])
        self.assertEqual(self.lines("error.what(); bytes.at(1); int somewhat; auto t = R\"x(what by)x\";\n"), [])
        self.assertEqual(self.lines("# of what\nmessage(STATUS of)\n", ".cmake"), [])
        self.assertEqual(self.lines("int length = 1'000; int byte;\n"), [])
