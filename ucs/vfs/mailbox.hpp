// Passes queries of other threads to the owner of objects that only the owner may touch.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ucs/time/clock.hpp"
#include "ucs/vfs/query.hpp"

namespace ucs::vfs {

// A reader posts one query and waits. It wakes the owner, which answers in its own context and
// continues. So the tree needs no lock and no atomic operation in the message path. The owner never
// waits for a reader: the only lock that it takes is that of close(), which a reader holds only
// while it writes to a descriptor.
//
// The reader bounds the cost for the owner: after an answer that took the owner time t, it posts no
// query for 99 t, so answers take at most one percent of the owner's time.
//
// If an owner does not answer (it computes, sleeps or hangs), the first reader waits for
// `reply_timeout`, later ones for `absent_timeout`. They get the last answer to the same query,
// with its age.
//
// Shared by the owner and its readers. Owner context for serve_query() and close(); any thread for
// ask().
class mailbox {
public:
    using waker = std::function<void()>;
    // The clocks for a reader's sleep and the owner's work; tests replace them.
    struct pace {
        std::function<void(time::nanoseconds)> sleep;
        time::nanoseconds (*worked)() noexcept;
        static pace real();
    };

    // `wake` makes the owner call serve_query() soon. Any thread may call it.
    explicit mailbox(waker wake, pace measure = pace::real())
        : pace_(std::move(measure)), wake_(std::move(wake)) {}
    mailbox(const mailbox&) = delete;
    mailbox& operator=(const mailbox&) = delete;

    // Answers the pending query, if there is one, for the objects below `top`.
    void serve_query(const object& top) noexcept;
    // Ends the mailbox when the owner goes away: later queries fail, and `wake` is not called any
    // more.
    void close() noexcept;

    [[nodiscard]] answer ask(const query& request);
    // Describes when the owner last answered, for people.
    [[nodiscard]] std::string owner_text() const;

    static constexpr time::nanoseconds reply_timeout = 500 * time::millisecond;
    static constexpr time::nanoseconds absent_timeout = 10 * time::millisecond;

private:
    enum class state { empty, posted, answering, answered, closed };
    struct cache_entry {
        answer reply;
        time::nanoseconds when;
    };

    bool withdraw();
    bool wait_for_answer(time::nanoseconds limit);
    void wake_owner();
    void pause_after_answer();
    answer take_answer();
    [[nodiscard]] answer cached_answer(const query& request);

    const pace pace_;
    std::atomic<state> state_{state::empty};
    // The reader owns these while the state is empty or answered, the owner while it is answering.
    query query_;
    answer answer_;
    time::nanoseconds spent_ = 0;

    std::atomic<bool> absent_{false};
    std::atomic<time::nanoseconds> last_answer_{0};

    std::mutex readers_;  // held by the one active reader; guards the members below
    time::nanoseconds pause_ = 0;
    std::unordered_map<std::string, cache_entry> cached_;

    std::mutex waking_;  // guards wake_
    waker wake_;
};

}  // namespace ucs::vfs
