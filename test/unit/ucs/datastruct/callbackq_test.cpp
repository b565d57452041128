#include "ucs/datastruct/callbackq.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

using ucs::datastruct::callbackq;

namespace {

// A callback that writes its name to a log and then does something.
struct actor {
    std::string* log;
    char name;
    std::function<void()> action;
};

unsigned act(void* arg) {
    auto* self = static_cast<actor*>(arg);
    const std::function<void()> action = self->action;  // the action may replace itself
    self->log->push_back(self->name);
    if (action) action();
    return 1;
}

}  // namespace

TEST_CASE("callbacks run in the order in which they were added") {
    std::string log;
    actor a{&log, 'a', {}}, b{&log, 'b', {}}, c{&log, 'c', {}};
    callbackq queue;
    CHECK(queue.dispatch() == 0);
    queue.add(act, &a);
    const auto id = queue.add(act, &b);
    queue.add(act, &c);
    CHECK(queue.dispatch() == 3);
    queue.remove(id);
    queue.remove(id);
    queue.remove(0);
    CHECK(queue.dispatch() == 2);
    CHECK(log == "abcac");
    CHECK(queue.size() == 2);
}

TEST_CASE("a callback may remove itself, an earlier and a later one") {
    std::string log;
    callbackq queue;
    callbackq::id ids[4];
    actor a{&log, 'a', {}}, c{&log, 'c', {}}, d{&log, 'd', {}};
    actor b{&log, 'b', [&] {
                queue.remove(ids[0]);
                queue.remove(ids[1]);
                queue.remove(ids[2]);
            }};
    ids[0] = queue.add(act, &a);
    ids[1] = queue.add(act, &b);
    ids[2] = queue.add(act, &c);
    ids[3] = queue.add(act, &d);
    CHECK(queue.dispatch() == 3);
    CHECK(log == "abd");
    CHECK(queue.dispatch() == 1);
    CHECK(log == "abdd");
    CHECK(queue.size() == 1);
}

TEST_CASE("a callback that was added in a round runs from the next round on") {
    std::string log;
    callbackq queue;
    actor late{&log, 'l', {}};
    actor adder{&log, 'a', {}};
    adder.action = [&] {
        for (int i = 0; i < 100; ++i)
            queue.add(act, &late);
        adder.action = {};
    };
    queue.add(act, &adder);
    CHECK(queue.dispatch() == 1);
    CHECK(queue.dispatch() == 101);
}

TEST_CASE("one-shot callbacks run once and can be removed") {
    std::string log;
    callbackq queue;
    actor a{&log, 'a', {}}, b{&log, 'b', {}};
    queue.add_once(act, &a);
    queue.add_once(act, &b);
    queue.add(act, &b);
    queue.remove_once(&b);
    CHECK(queue.dispatch() == 2);
    CHECK(queue.dispatch() == 1);
    CHECK(log == "abb");
}

TEST_CASE("a callback may dispatch the queue again") {
    std::string log;
    callbackq queue;
    callbackq::id other = 0;
    actor b{&log, 'b', {}};
    actor a{&log, 'a', {}};
    a.action = [&] {
        a.action = {};
        queue.dispatch();
        queue.remove(other);
    };
    queue.add(act, &a);
    other = queue.add(act, &b);
    queue.dispatch();
    CHECK(log == "aab");
}

TEST_CASE("random changes from inside callbacks agree with a model") {
    const auto seed = GENERATE(range(1U, 11U));
    INFO("seed " << seed);
    std::mt19937 random(seed);
    callbackq queue;
    struct context {
        std::mt19937& random;
        callbackq& queue;
        std::map<callbackq::id, bool> live;  // true: ran in this round
        bool wrong = false;
    } all{random, queue, {}, false};
    struct entry {
        context* owner;
        callbackq::id id;
    };
    std::vector<std::unique_ptr<entry>> entries;
    const callbackq::function run = [](void* arg) {
        auto* self = static_cast<entry*>(arg);
        context& owner = *self->owner;
        if (owner.live.count(self->id) == 0 || owner.live[self->id]) owner.wrong = true;
        owner.live[self->id] = true;
        if (owner.random() % 3 == 0) {
            auto victim = owner.live.begin();
            std::advance(victim, static_cast<long>(owner.random() % owner.live.size()));
            owner.queue.remove(victim->first);
            owner.live.erase(victim);
        }
        return 1U;
    };
    for (int round = 0; round < 200; ++round) {
        for (auto i = random() % 6; i != 0; --i) {
            entries.push_back(std::make_unique<entry>(entry{&all, 0}));
            entries.back()->id = queue.add(run, entries.back().get());
            all.live[entries.back()->id] = false;
        }
        queue.dispatch();
        REQUIRE_FALSE(all.wrong);
        REQUIRE(queue.size() == all.live.size());
        for (auto& [id, ran] : all.live) {
            REQUIRE(ran);
            ran = false;
        }
    }
}
