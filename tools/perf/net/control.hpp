// The control connection: frames and barriers between client and server.
#pragma once

#include <atomic>
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
// frame from the peer becomes a failure here. Nothing waits for ever: while both sides have a
// peer_watch, which says that they are alive, a peer that says nothing for the limit of silence is
// a failure that names what was waited for.
class control {
public:
    using clock = std::chrono::steady_clock;

    // 0: silence has no limit.
    explicit control(ucs::unique_fd fd,
                     std::chrono::milliseconds limit_of_silence = default_limit_of_silence) noexcept
        : fd_(std::move(fd)), limit_of_silence_(limit_of_silence), last_heard_(clock::now()) {}

    static constexpr std::chrono::milliseconds default_limit_of_silence{120'000};

    // When the send fails, a failure that the peer has reported before counts more.
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

    // Tells the peer that this process is alive, unless it is being told more, or has not received
    // yet what it was told before. Never throws, never waits. Any thread.
    void send_alive() noexcept;
    // Returns whether the peer has said nothing for the limit of silence, also nothing that waits
    // to be read. Any one thread beside the main one.
    [[nodiscard]] bool is_silent() noexcept;
    [[nodiscard]] std::chrono::milliseconds limit_of_silence() const noexcept {
        return limit_of_silence_;
    }

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    // A read waits for this, until a time or while the peer is not silent.
    struct waiting {
        std::string_view wanted;
        idle_work* idle = nullptr;
        std::optional<clock::time_point> deadline{};
    };
    void read_exactly(std::span<std::byte> into, const waiting& how);
    void check_time(const waiting& how);
    [[nodiscard]] bool has_been_silent() noexcept;
    [[nodiscard]] frame read_frame(const waiting& how);
    [[nodiscard]] frame read_wanted_frame(const waiting& how);
    [[nodiscard]] frame receive_one_of(const waiting& how, frame_type expected,
                                       std::optional<frame_type> or_else);
    void take_alive() noexcept;

    ucs::unique_fd fd_;
    const std::chrono::milliseconds limit_of_silence_;
    std::mutex sending_;
    std::mutex receiving_;
    std::atomic<std::uint64_t> received_{0};  // bytes
    // Both threads look for silence; the lock guards what follows.
    std::mutex listening_;
    clock::time_point last_heard_;
    std::uint64_t last_total_ = 0;  // received and waiting bytes when something came last
};

}  // namespace tools::perf
