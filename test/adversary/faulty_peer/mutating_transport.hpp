// Transports that change the messages that they send, so that the peer receives altered messages.
#pragma once

#include <random>

#include "uct/api/component.hpp"

namespace adversary {

// Memory of a sent message, which the receiver may be reading. Empty: none.
struct sent_bytes {
    std::byte* begin = nullptr;
    std::size_t length = 0;
};

// Decides how messages are changed. One per process, used by the thread of the worker, except
// `last_sent`.
class mutator {
public:
    explicit mutator(std::uint64_t seed) : random_(seed) {}

    // Until this call messages are sent unchanged.
    void start() noexcept { active_ = true; }
    // Changes a message of `length` bytes in memory for `capacity`, and its id. Returns its length.
    std::size_t change(uct::am_id& id, std::byte* message, std::size_t length,
                       std::size_t capacity);
    // Returns true if the message must be sent twice.
    [[nodiscard]] bool repeats() { return active_ && random_() % 32 == 0; }

    // Shared with the thread that flips bytes in messages. Only messages in shared memory are
    // recorded.
    void note_sent(sent_bytes message) noexcept;
    [[nodiscard]] static sent_bytes last_sent() noexcept;

private:
    [[nodiscard]] std::uint64_t interesting_number();

    std::mt19937_64 random_;
    std::vector<std::uint64_t> seen_;
    bool active_ = false;
};

// A component whose endpoints all change messages. `component` and the mutator must outlive it.
[[nodiscard]] std::unique_ptr<uct::component> make_mutating(const uct::component& component,
                                                            mutator& mutations);

}  // namespace adversary
