// Tests of the object tree.
#include "ucs/vfs/tree.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "ucs/vfs/mailbox.hpp"

namespace vfs = ucs::vfs;

namespace {

using list = std::vector<std::string>;

// Returns the names in a folder; those of folders end in '/'.
list names(const std::string& path) {
    list found;
    const auto items = vfs::list(path);
    CAPTURE(path);
    REQUIRE(items);
    for (const vfs::item& each : *items) {
        const bool folder = each.type == vfs::directory::entry::kind::folder;
        found.push_back(folder ? each.name + "/" : each.name);
    }
    return found;
}

struct child_object final : vfs::object {
    void describe(vfs::directory& into) const override {
        into.file("value", [this] { return std::to_string(value); });
    }
    int value = 7;
};

struct sample_object final : vfs::object {
    void describe(vfs::directory& into) const override {
        into.file("text", [] { return std::string("hello"); });
        into.file(
            "limit", [this] { return std::to_string(limit); },
            [this](std::string_view text) {
                if (text != "5") return UCS_ERR_INVALID_PARAM;
                limit = 5;
                return UCS_OK;
            });
        into.folder("child", child);
        into.folder("made", [](vfs::directory& d) {
            d.file("deep", [] { return std::string("down"); });
            d.link("up", "../text");
        });
        into.link("short", "child");
        into.link("absolute", "/test/one/child/value");
        into.link("circle", "circle");
        into.link("nowhere", "missing");
    }
    child_object child;
    mutable int limit = 1;
};

// Adds an object to the tree during its lifetime.
struct scoped_root {
    scoped_root(std::string path, const vfs::object& target) : object(target) {
        vfs::add_root(std::move(path), object);
    }
    ~scoped_root() { vfs::remove_root(object); }
    const vfs::object& object;
};

}  // namespace

TEST_CASE("the tree lists roots, folders, files and links") {
    const sample_object sample;
    const child_object other;
    const scoped_root one("test/one", sample);
    const scoped_root two("test/two", other);
    CHECK(names("") == list{"test/"});
    CHECK(names("/test/") == list{"one/", "two/"});
    CHECK(names("test/one") ==
          list{"text", "limit", "child/", "made/", "short", "absolute", "circle", "nowhere"});
    CHECK(names("test/one/made") == list{"deep", "up"});
    CHECK(vfs::list("test/three").status() == UCS_ERR_NO_ELEM);
    CHECK(vfs::list("test/one/text").status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("values are read live, also through links") {
    sample_object sample;
    const scoped_root one("test/one", sample);
    CHECK(*vfs::read("test/one/text") == "hello");
    CHECK(*vfs::read("test/one/child/value") == "7");
    sample.child.value = 8;
    CHECK(*vfs::read("test/one/child/value") == "8");
    CHECK(*vfs::read("test/one/short/value") == "8");
    CHECK(*vfs::read("test/one/absolute") == "8");
    CHECK(*vfs::read("test/one/made/up") == "hello");
    CHECK(vfs::read("test/one/circle").status() == UCS_ERR_NO_ELEM);
    CHECK(vfs::read("test/one/nowhere").status() == UCS_ERR_NO_ELEM);
    CHECK(vfs::read("test/one").status() == UCS_ERR_INVALID_PARAM);
    CHECK(vfs::read("test/one/text/deeper").status() == UCS_ERR_NO_ELEM);
    CHECK(vfs::read("../../etc/passwd").status() == UCS_ERR_NO_ELEM);
}

TEST_CASE("writing a file returns whether the value was accepted") {
    const sample_object sample;
    const scoped_root one("test/one", sample);
    CHECK(vfs::write("test/one/limit", "6") == UCS_ERR_INVALID_PARAM);
    CHECK(vfs::write("test/one/limit", "5") == UCS_OK);
    CHECK(*vfs::read("test/one/limit") == "5");
    CHECK(vfs::write("test/one/text", "x") == UCS_ERR_UNSUPPORTED);
    CHECK(vfs::write("test/one/child", "x") == UCS_ERR_INVALID_PARAM);
    CHECK(vfs::write("test/one/missing", "x") == UCS_ERR_NO_ELEM);
}

TEST_CASE("a root may be below another one, in either order") {
    const child_object outer;
    const child_object inner;
    {
        const scoped_root a("test/one", outer);
        const scoped_root b("test/one/below/it", inner);
        CHECK(names("test/one") == list{"value", "below/"});
        CHECK(*vfs::read("test/one/below/it/value") == "7");
    }
    const scoped_root b("test/one/below/it", inner);
    const scoped_root a("test/one", outer);
    CHECK(names("test/one") == list{"value", "below/"});
    CHECK(names("test") == list{"one/"});
}

TEST_CASE("a removed root is gone") {
    const child_object object;
    { const scoped_root one("test/one", object); }
    CHECK(vfs::list("test").status() == UCS_ERR_NO_ELEM);
}

TEST_CASE("objects are added and removed while others read") {
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        while (!stop) {
            (void)vfs::list("test");
            (void)vfs::read("test/one/value");
        }
    });
    for (int i = 0; i < 2000; ++i) {
        const child_object object;
        const scoped_root one("test/one", object);
    }
    stop = true;
    reader.join();
    CHECK(vfs::list("test").status() == UCS_ERR_NO_ELEM);
}

TEST_CASE("a root whose path is taken gets another, and both are shown") {
    const child_object first;
    child_object second;
    second.value = 9;
    const scoped_root a("test/one", first);
    CHECK(vfs::add_root("test/one", second) == "test/one~2");
    CHECK(*vfs::read("test/one/value") == "7");
    CHECK(*vfs::read("test/one~2/value") == "9");
    vfs::remove_root(second);
}

TEST_CASE("a stat query describes an entry, and follows links except at the end") {
    const sample_object sample;
    const scoped_root one("test/one", sample);
    const auto stat_of = [](const std::string& path) {
        const vfs::answer got = vfs::ask({vfs::verb::stat, path, {}});
        CAPTURE(path);
        REQUIRE(got.status == UCS_OK);
        return got.items.front();
    };
    using kind = vfs::directory::entry::kind;
    CHECK(stat_of("").type == kind::folder);
    CHECK(stat_of("test/one/text").type == kind::file);
    CHECK(!stat_of("test/one/text").writable);
    CHECK(stat_of("test/one/limit").writable);
    CHECK(stat_of("test/one/short").type == kind::link);
    CHECK(stat_of("test/one/short").target == "child");
    CHECK(stat_of("test/one/short/value").type == kind::file);
}

TEST_CASE("chosen names become names of entries") {
    CHECK(vfs::file_name("host:12.1") == "host:12.1");
    CHECK(vfs::file_name("a/b\nc") == "a_b_c");
    CHECK(vfs::file_name("") == "_");
    CHECK(vfs::file_name("..") == ".._");
}

TEST_CASE("one entry of a large folder is found by its name") {
    struct many final : vfs::object {
        void describe(vfs::directory& into) const override {
            into.folder(
                "all", [this](vfs::directory&) { ++filled; },
                [](std::string_view name, vfs::directory& d) {
                    if (name == "7") d.file("7", [] { return std::string("seven"); });
                });
        }
        mutable int filled = 0;
    };
    const many object;
    const scoped_root one("test/one", object);
    CHECK(*vfs::read("test/one/all/7") == "seven");
    CHECK(vfs::read("test/one/all/8").status() == UCS_ERR_NO_ELEM);
    CHECK(object.filled == 0);
    (void)vfs::list("test/one/all");
    CHECK(object.filled == 1);
}
