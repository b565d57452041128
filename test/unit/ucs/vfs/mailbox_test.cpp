// Tests of mailboxes: answers to other threads, owners that do not respond, owners that close.
#include "ucs/vfs/mailbox.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "test/support/virtual_time.hpp"
#include "ucs/vfs/tree.hpp"

namespace vfs = ucs::vfs;

namespace {

// Plain values, so that a sanitizer detects an access by a reader.
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

// An owner that serves its mailbox whenever it is woken, and changes its object all the time.
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
            if (woken.exchange(false)) box->serve_query(object);
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

// An object like a worker: some entries that any thread may read, the others through the mailbox.
struct shown final : vfs::object {
    explicit shown(std::shared_ptr<vfs::mailbox> asked) : box(std::move(asked)) {}
    void describe(vfs::directory& into) const override {
        into.folder(
            "it", [](vfs::directory& d) { d.file("name", [] { return std::string("x"); }); }, box);
    }
    std::shared_ptr<vfs::mailbox> box;
};

vfs::query reading(std::string path) {
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

TEST_CASE("a folder joins entries of any thread and entries of the owner") {
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

TEST_CASE("if the owner does not respond, readers get its last answer with its age") {
    owned object;
    bool answers = true;
    vfs::mailbox* box = nullptr;
    vfs::mailbox made([&] {
        if (answers) box->serve_query(object);
    });
    box = &made;
    CHECK(made.owner_text() == "never answered");
    CHECK(made.ask(reading("value")).text == "1");
    answers = false;
    const vfs::answer old = made.ask(reading("value"));
    CHECK(old.status == UCS_OK);
    CHECK(old.text.starts_with("1\n# "));
    CHECK(old.text.find("s old") != std::string::npos);
    CHECK(made.owner_text().find("does not answer") != std::string::npos);
    CHECK(made.ask(reading("below/same")).status == UCS_ERR_TIMED_OUT);
    CHECK(made.ask({vfs::verb::write, "value", "abc"}).status == UCS_ERR_TIMED_OUT);
    CHECK(object.value == 1);
    answers = true;
    CHECK(made.ask(reading("value")).text == "1");
    CHECK(made.owner_text().find("does not answer") == std::string::npos);
}

TEST_CASE("a query from a time without responses is answered when the owner responds again") {
    owned object;
    vfs::mailbox made([] {});
    CHECK(made.ask(reading("value")).status == UCS_ERR_TIMED_OUT);
    made.serve_query(object);
    // The next reader gets the late answer.
    CHECK(made.ask(reading("value")).text.starts_with("1\n# "));
}

namespace {

// A mailbox in virtual time: sleeping advances the clock, and so does each answer of the owner. The
// owner answers at once while `answers` is set.
struct slow_owner final : vfs::object {
    void describe(vfs::directory& into) const override {
        into.file("value", [this] {
            test::virtual_time::now += cost;
            served.push_back(test::virtual_time::now);
            return std::string("x");
        });
    }
    void sleep(ucs::time::nanoseconds duration) {
        test::virtual_time::now += duration;
        if (test::virtual_time::now >= ends) box.close();
    }
    static ucs::time::nanoseconds worked() noexcept { return test::virtual_time::now; }

    test::virtual_time clock;
    mutable std::vector<ucs::time::nanoseconds> served;  // when each answer was ready
    ucs::time::nanoseconds cost = 3 * ucs::time::millisecond;
    bool answers = true;
    ucs::time::nanoseconds ends =
        UINT64_MAX;  // the owner closes the mailbox then, and may wait for its readers
    vfs::mailbox box{[this] {
                         if (answers) box.serve_query(*this);
                     },
                     {[this](ucs::time::nanoseconds duration) { sleep(duration); }, worked}};
};

}  // namespace

TEST_CASE("after an answer that took t the owner gets no query for 99 t") {
    slow_owner owner;
    for (const auto cost : {3 * ucs::time::millisecond, 20 * ucs::time::microsecond,
                            ucs::time::second, ucs::time::nanoseconds{0}}) {
        owner.cost = cost;
        CHECK(owner.box.ask(reading("value")).text == "x");
    }
    REQUIRE(owner.served.size() == 4);
    // The pause between the end of one answer and the begin of the next one is exact.
    CHECK(owner.served[1] - 20 * ucs::time::microsecond - owner.served[0] ==
          99 * 3 * ucs::time::millisecond);
    CHECK(owner.served[2] - ucs::time::second - owner.served[1] ==
          99 * 20 * ucs::time::microsecond);
    CHECK(owner.served[3] - owner.served[2] == 99 * ucs::time::second);
    // After an answer without cost there is no pause.
    const auto before = test::virtual_time::now;
    CHECK(owner.box.ask(reading("value")).text == "x");
    CHECK(test::virtual_time::now == before);
}

TEST_CASE("an owner that closes does not wait for a pausing reader") {
    slow_owner owner;
    owner.cost = ucs::time::second;
    CHECK(owner.box.ask(reading("value")).text == "x");
    const auto begin = test::virtual_time::now;
    owner.ends = begin + 30 * ucs::time::millisecond;
    CHECK(owner.box.ask(reading("value")).status == UCS_ERR_NO_ELEM);
    CHECK(test::virtual_time::now - begin <= 50 * ucs::time::millisecond);
}

TEST_CASE("an answer that came too late for its reader counts as well") {
    slow_owner owner;
    owner.answers = false;
    CHECK(owner.box.ask(reading("value")).status == UCS_ERR_TIMED_OUT);
    owner.answers = true;
    owner.box.serve_query(owner);
    REQUIRE(owner.served.size() == 1);
    CHECK(owner.box.ask(reading("value")).text == "x");
    REQUIRE(owner.served.size() == 2);
    CHECK(owner.served[1] - owner.cost - owner.served[0] >= 99 * owner.cost);
}

TEST_CASE("a reader in a loop takes one percent of the owner's time") {
    slow_owner owner;
    const auto begin = test::virtual_time::now;
    constexpr int reads = 1000;
    for (int i = 0; i < reads; ++i)
        REQUIRE(owner.box.ask(reading("value")).status == UCS_OK);
    CHECK((test::virtual_time::now - begin) / owner.cost == 100 * reads - 99);
}

TEST_CASE("an owner closes while readers query") {
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
