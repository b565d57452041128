// Transports that change what they send: the peer of a worker that uses them gets altered messages.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "uct/api/component.hpp"

namespace adversary {

// Memory of a message that was sent, which the receiver may be reading now. Empty: none.
struct sent_bytes {
    std::byte* begin = nullptr;
    std::size_t length = 0;
};

// Decides what happens to messages. One per process; the thread of the worker, except `last_sent`.
class mutator {
public:
    explicit mutator(std::uint64_t seed) : random_(seed) {}

    // Messages are sent as they are before.
    void start() noexcept { active_ = true; }
    // Changes a message of `length` bytes in memory for `capacity`, and its id. Returns its length.
    std::size_t change(uct::am_id& id, std::byte* message, std::size_t length,
                       std::size_t capacity);
    // Returns whether the message is to be sent twice.
    [[nodiscard]] bool repeats() { return active_ && random_() % 32 == 0; }

    // Shared with the thread that flips bytes in messages. Messages in other memory than shared
    // memory are not noted.
    void note_sent(sent_bytes message) noexcept;
    [[nodiscard]] static sent_bytes last_sent() noexcept;

private:
    [[nodiscard]] std::uint64_t interesting_number();

    std::mt19937_64 random_;
    std::vector<std::uint64_t> seen_;
    bool active_ = false;
};

// The component with this behaviour in all its endpoints. Both must outlive it.
[[nodiscard]] std::unique_ptr<uct::component> make_mutating(const uct::component& of, mutator& by);

}  // namespace adversary
