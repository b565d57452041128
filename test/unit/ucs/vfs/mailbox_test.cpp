// Readers of another thread's objects: answers, absent owners, owners that go.
#include "ucs/vfs/mailbox.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "ucs/vfs/tree.hpp"

namespace vfs = ucs::vfs;

namespace {

// Plain values: a sanitizer would see a reader that touched them.
struct owned final : vfs::object {
    void describe(vfs::directory& into) const override {
        into.file(
            "value", [this] { return std::to_string(value); },
            [this](std::string_view text) {
                value = static_cast<int>(text.size());
                return UCS_OK;
            });
        into.folder("below", [this](vfs::directory& d) {
            d.file("same", [this] { return std::to_string(value); });
        });
    }
    mutable int value = 1;
};

// An owner that looks into its mailbox whenever it was woken, and changes its object all the time.
struct busy_owner {
    busy_owner()
        : box(std::make_shared<vfs::mailbox>([this] { woken = true; })),
          thread([this] { run(); }) {}
    ~busy_owner() { stop(); }
    void stop() {
        ending = true;
        if (thread.joinable()) thread.join();
    }
    void run() {
        while (!ending) {
            ++object.value;
            if (woken.exchange(false)) box->look(object);
            std::this_thread::yield();
        }
        box->close();
    }
    owned object;
    std::atomic<bool> woken{false};
    std::atomic<bool> ending{false};
    std::shared_ptr<vfs::mailbox> box;
    std::thread thread;
};

// As a worker is shown: what any thread may read, and the rest by asking.
struct shown final : vfs::object {
    explicit shown(std::shared_ptr<vfs::mailbox> asked) : box(std::move(asked)) {}
    void describe(vfs::directory& into) const override {
        into.folder(
            "it", [](vfs::directory& d) { d.file("name", [] { return std::string("x"); }); }, box);
    }
    std::shared_ptr<vfs::mailbox> box;
};

vfs::question reading(std::string path) {
    return {vfs::verb::read, std::move(path), {}};
}

}  // namespace

TEST_CASE("the owner answers while it works") {
    busy_owner owner;
    int last = 0;
    for (int i = 0; i < 20; ++i) {
        const vfs::answer got = owner.box->ask(reading("value"));
        REQUIRE(got.status == UCS_OK);
        const int value = std::stoi(got.text);
        CHECK(value > last);
        last = value;
    }
    CHECK(owner.box->ask(reading("below/same")).status == UCS_OK);
    CHECK(owner.box->ask(reading("nothing")).status == UCS_ERR_NO_ELEM);
    CHECK(owner.box->owner_text().find("does not answer") == std::string::npos);
}

TEST_CASE("what any thread may read and what the owner says are one folder") {
    busy_owner owner;
    const shown object(owner.box);
    vfs::add_root("test", object);
    const auto items = vfs::list("test/it");
    REQUIRE(items);
    REQUIRE(items->size() == 3);
    CHECK((*items)[0].name == "name");
    CHECK((*items)[1].name == "value");
    CHECK((*items)[1].writable);
    CHECK(*vfs::read("test/it/name") == "x");
    CHECK(vfs::read("test/it/below/same"));
    CHECK(vfs::write("test/it/value", "abc") == UCS_OK);
    CHECK(vfs::read("test/it").status() == UCS_ERR_INVALID_PARAM);
    vfs::remove_root(object);
}

TEST_CASE("an owner that stays away leaves its last answer, with its age") {
    owned object;
    bool here = true;
    vfs::mailbox* box = nullptr;
    vfs::mailbox made([&] {
        if (here) box->look(object);
    });
    box = &made;
    CHECK(made.owner_text() == "never answered");
    CHECK(made.ask(reading("value")).text == "1");
    here = false;
    const vfs::answer old = made.ask(reading("value"));
    CHECK(old.status == UCS_OK);
    CHECK(old.text.starts_with("1\n# "));
    CHECK(old.text.find("s old") != std::string::npos);
    CHECK(made.owner_text().find("does not answer") != std::string::npos);
    CHECK(made.ask(reading("below/same")).status == UCS_ERR_TIMED_OUT);
    CHECK(made.ask({vfs::verb::write, "value", "abc"}).status == UCS_ERR_TIMED_OUT);
    CHECK(object.value == 1);
    here = true;
    CHECK(made.ask(reading("value")).text == "1");
    CHECK(made.owner_text().find("does not answer") == std::string::npos);
}

TEST_CASE("a question that was put while the owner was away is answered when it is back") {
    owned object;
    vfs::mailbox made([] {});
    CHECK(made.ask(reading("value")).status == UCS_ERR_TIMED_OUT);
    made.look(object);
    // Whoever asks now finds the answer that came late.
    CHECK(made.ask(reading("value")).text.starts_with("1\n# "));
}

TEST_CASE("an owner goes while readers ask") {
    for (int round = 0; round < 20; ++round) {
        busy_owner owner;
        const std::shared_ptr<vfs::mailbox> box = owner.box;
        std::atomic<bool> begun{false};
        std::thread reader([&] {
            while (box->ask(reading("value")).status == UCS_OK)
                begun = true;
            CHECK(box->ask(reading("value")).status == UCS_ERR_NO_ELEM);
        });
        while (!begun)
            std::this_thread::yield();
        owner.stop();
        reader.join();
    }
}
