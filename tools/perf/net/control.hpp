// The control connection: frames and barriers between client and server.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "tools/perf/net/frame.hpp"
#include "ucs/type/unique_fd.hpp"

namespace tools::perf {

// Work to do while waiting for a frame, such as progress of a worker. May throw to give up.
class idle_work {
public:
    virtual void operator()() = 0;

protected:
    ~idle_work() = default;
};

// Owned by the session. Receiving belongs to the main thread, sending to any. What arrives is
// untrusted. All functions throw failure when the peer is gone or breaks the format; a failure
// frame from the peer becomes a failure here.
class control {
public:
    explicit control(ucs::unique_fd fd) noexcept : fd_(std::move(fd)) {}

    void send(frame_type type, std::span<const std::byte> content = {});

    // Waits for a frame of one of the two types (finish, where the peer may end). Sleeps without
    // `idle`, polls with it.
    [[nodiscard]] frame receive(frame_type expected, idle_work* idle = nullptr,
                                std::optional<frame_type> or_else = std::nullopt);

    // Like receive, for the first frame of a connection: at most `limit`.
    [[nodiscard]] frame receive_within(frame_type expected, std::chrono::milliseconds limit);

    // Returns when the peer has come to its matching barrier.
    void barrier(idle_work& idle);

    // Reads what the peer left behind and returns the text of its failure frame, if any. Never
    // throws, never waits.
    [[nodiscard]] std::optional<std::string> last_words() noexcept;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    using clock = std::chrono::steady_clock;

    void read_exactly(std::span<std::byte> into, idle_work* idle,
                      std::optional<clock::time_point> deadline);
    [[nodiscard]] frame read_frame(idle_work* idle, std::optional<clock::time_point> deadline);

    ucs::unique_fd fd_;
    std::mutex sending_;
};

}  // namespace tools::perf
