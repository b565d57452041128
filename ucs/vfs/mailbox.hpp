// Questions about objects that only their owner may touch.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ucs/time/clock.hpp"
#include "ucs/vfs/question.hpp"

namespace ucs::vfs {

// A reader puts one question in and waits; the owner, once woken, answers in its own context and
// goes on. So what the tree shows needs no lock and no atomic in the message path, and the owner
// never waits for a reader: it takes no lock here that a reader holds for longer than it takes to
// write to a descriptor, and that one only when it goes away.
//
// What it costs the owner is bounded by the reader: after an answer that took the owner t, it asks
// no other question for 99 t, so answering takes at most one percent of the owner's time.
//
// An owner that does not come (it computes, sleeps or hangs) is waited for `patience` once, then
// shortly; readers get the last answer to the same question, with its age.
//
// Shared by the owner and its readers. Owner context for look and close, any thread for ask.
class mailbox {
public:
    using waker = std::function<void()>;
    // What a reader's waiting and an owner's work are measured in; a test puts its own in.
    struct pace {
        std::function<void(time::nanoseconds)> sleep;
        time::nanoseconds (*worked)() noexcept;
        static pace real();
    };

    // `wake` makes the owner call look soon, from any thread.
    explicit mailbox(waker wake, pace in = pace::real())
        : pace_(std::move(in)), wake_(std::move(wake)) {}
    mailbox(const mailbox&) = delete;
    mailbox& operator=(const mailbox&) = delete;

    // Answers the question that is there, if there is one, about what is below `top`.
    void look(const object& top) noexcept;
    // The owner goes: nobody is answered any more, and `wake` is not called.
    void close() noexcept;

    [[nodiscard]] answer ask(const question& asked);
    // Whether the owner answers, in words.
    [[nodiscard]] std::string owner_text() const;

    static constexpr time::nanoseconds patience = 500 * time::millisecond;
    static constexpr time::nanoseconds short_patience = 10 * time::millisecond;

private:
    enum class state { empty, asked, answering, answered, closed };
    struct remembered {
        answer said;
        time::nanoseconds when;
    };

    bool withdraw();
    bool wait_for_answer(time::nanoseconds limit);
    void call_owner();
    void give_time_back();
    answer take_answer();
    [[nodiscard]] answer old_answer(const question& asked);

    const pace pace_;
    std::atomic<state> state_{state::empty};
    // The reader's while the state is empty or answered, the owner's while it is answering.
    question question_;
    answer answer_;
    time::nanoseconds spent_ = 0;

    std::atomic<bool> absent_{false};
    std::atomic<time::nanoseconds> last_answer_{0};

    std::mutex readers_;  // one at a time; guards what follows
    time::nanoseconds pause_ = 0;
    std::unordered_map<std::string, remembered> known_;

    std::mutex waking_;  // guards wake_
    waker wake_;
};

}  // namespace ucs::vfs
