"""contrib/count-public counts the public functions of classes, and wants a reason for the large ones."""

import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

from processes import load_script

SCRIPT = Path(__file__).resolve().parents[3] / "contrib/count-public"
TEXT = """
namespace layer {
class box : public base {
public:
    using value = int;
    explicit box(int a);
    box(const box&) = delete;
    ~box() override;
    box& operator=(const box&) = delete;
    bool operator==(const box&) const = default;
    friend bool equal(const box& left, const box& right);
    [[nodiscard]] const char* name() const noexcept { return name_; }
    void name(const char* text);
    void start(
        int length,
        int count) noexcept override;
    static box make();
    template<class T>
    T* find(T* of_a_kind) const;
    virtual void stop() = 0;
    struct part {
        int size() const;
        int length = 0;
    };

protected:
    void helper();

private:
    void hidden();
    const char* name_ = nullptr;
};
void box::name(const char* text) {}
int free_function(int count);
}
"""


@unittest.skipUnless(shutil.which("ctags"), "universal-ctags is not installed")
class Classes(unittest.TestCase):
    def test_functions_of_a_class(self):
        module = load_script(SCRIPT)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "box.hpp"
            path.write_text(TEXT, encoding="utf-8")
            self.assertEqual(module.public_functions([path]),
                             {(str(path), "layer::box"): {"name", "make", "find", "stop"},
                              (str(path), "layer::box::part"): {"size"}})

    def test_large_classes_need_a_reason(self):
        module = load_script(SCRIPT)
        names = {f"function_{i}" for i in range(module.MOST + 1)}
        large = {(str(module.ROOT / "ucs/box.hpp"), "ucs::box"): names,
                 (str(module.ROOT / "ucs/part.hpp"), "ucs::part"): set(sorted(names)[1:])}
        for exceptions, result in (({}, (1, 0)), ({"ucs::box": "a reason"}, (0, 0)),
                                   ({"ucs::box": "a reason", "ucs::part": "none is needed"}, (0, 1))):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self.assertEqual(module.report(large, exceptions), result)
            self.assertIn("ucs/box.hpp: ucs::box has 21 public functions", output.getvalue())
            self.assertNotIn("ucs/part.hpp", output.getvalue())
