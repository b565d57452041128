#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "ucs/vfs/directory.hpp"

namespace vfs = ucs::vfs;

namespace {

using list = std::vector<std::string>;

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

// Hangs an object in the tree while it lives.
struct hung {
    hung(std::string path, const vfs::object& target) : object(target) {
        vfs::add_root(std::move(path), object);
    }
    ~hung() { vfs::remove_root(object); }
    const vfs::object& object;
};

}  // namespace

TEST_CASE("the tree lists roots, folders, files and links") {
    const sample_object sample;
    const child_object other;
    const hung one("test/one", sample);
    const hung two("test/two", other);
    CHECK(*vfs::list("") == list{"test/"});
    CHECK(*vfs::list("/test/") == list{"one/", "two/"});
    CHECK(*vfs::list("test/one") ==
          list{"text", "limit", "child/", "made/", "short", "absolute", "circle", "nowhere"});
    CHECK(*vfs::list("test/one/made") == list{"deep", "up"});
    CHECK(vfs::list("test/three").status() == UCS_ERR_NO_ELEM);
    CHECK(vfs::list("test/one/text").status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("values are read live, also through links") {
    sample_object sample;
    const hung one("test/one", sample);
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

TEST_CASE("files that can be written say whether they took it") {
    const sample_object sample;
    const hung one("test/one", sample);
    CHECK(vfs::write("test/one/limit", "6") == UCS_ERR_INVALID_PARAM);
    CHECK(vfs::write("test/one/limit", "5") == UCS_OK);
    CHECK(*vfs::read("test/one/limit") == "5");
    CHECK(vfs::write("test/one/text", "x") == UCS_ERR_UNSUPPORTED);
    CHECK(vfs::write("test/one/child", "x") == UCS_ERR_INVALID_PARAM);
    CHECK(vfs::write("test/one/missing", "x") == UCS_ERR_NO_ELEM);
}

TEST_CASE("a root may hang below another, in either order") {
    const child_object outer;
    const child_object inner;
    {
        const hung a("test/one", outer);
        const hung b("test/one/below/it", inner);
        CHECK(*vfs::list("test/one") == list{"value", "below/"});
        CHECK(*vfs::read("test/one/below/it/value") == "7");
    }
    const hung b("test/one/below/it", inner);
    const hung a("test/one", outer);
    CHECK(*vfs::list("test/one") == list{"value", "below/"});
    CHECK(*vfs::list("test") == list{"one/"});
}

TEST_CASE("a removed root is gone") {
    const child_object object;
    { const hung one("test/one", object); }
    CHECK(vfs::list("test").status() == UCS_ERR_NO_ELEM);
}

TEST_CASE("objects come and go while others look") {
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        while (!stop) {
            (void)vfs::list("test");
            (void)vfs::read("test/one/value");
        }
    });
    for (int i = 0; i < 2000; ++i) {
        const child_object object;
        const hung one("test/one", object);
    }
    stop = true;
    reader.join();
    CHECK(vfs::list("test").status() == UCS_ERR_NO_ELEM);
}
