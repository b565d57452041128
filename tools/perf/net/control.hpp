// The control connection: frames and barriers between client and server, and the watch for the
// peer's end.
#pragma once

#include <chrono>
#include <thread>

#include "tools/perf/core/stop_flag.hpp"
#include "tools/perf/net/frame.hpp"
#include "ucs/type/unique_fd.hpp"

namespace tools::perf {

// Work during the wait for a frame, such as progress of a worker. May throw to abort the wait.
class idle_work {
public:
    virtual void operator()() = 0;

protected:
    ~idle_work() = default;
};

// Owned by the session. The main thread receives; any thread may send. Received data is untrusted.
// All functions throw failure if the peer is gone or violates the format, or if it sends a failure
// frame. No call waits for ever: both sides have a peer_watch, which sends keepalives. If a peer
// sends nothing for the silence timeout, the call throws failure with a description of the expected
// frame.
class control {
public:
    using clock = std::chrono::steady_clock;

    // A timeout of 0 means no limit.
    explicit control(ucs::unique_fd fd,
                     std::chrono::milliseconds silence_timeout = default_silence_timeout) noexcept
        : stream_(std::move(fd)), silence_timeout_(silence_timeout), last_heard_(clock::now()) {}

    static constexpr std::chrono::milliseconds default_silence_timeout{120'000};

    // Sends a frame. If the send fails, but the peer has reported a failure before, throws the
    // peer's failure.
    void send(frame_type type, std::span<const std::byte> content = {});

    // Waits for a frame of one of the two types. Sleeps without `idle`; with it, polls and calls
    // it.
    [[nodiscard]] frame receive(frame_type expected, idle_work* idle = nullptr,
                                std::optional<frame_type> or_else = std::nullopt);

    // Like receive, for the first frame of a connection: at most `limit`.
    [[nodiscard]] frame receive_within(frame_type expected, std::chrono::milliseconds limit);

    // Returns when the peer has reached its matching barrier.
    void barrier(idle_work& idle);

    // Reads the pending frames of the peer and returns the text of its failure frame, if there is
    // one. Neither throws nor waits.
    [[nodiscard]] std::optional<std::string> take_failure_report() noexcept;

    // Sends a keepalive, unless another send is in progress or earlier data is still unsent.
    // Neither throws nor waits. Any thread.
    void send_alive() noexcept;
    // Returns whether the peer has sent nothing for the silence timeout, including unread data. One
    // thread besides the main thread may call it.
    [[nodiscard]] bool is_silent() noexcept;
    [[nodiscard]] std::chrono::milliseconds silence_timeout() const noexcept {
        return silence_timeout_;
    }

    [[nodiscard]] int fd() const noexcept { return stream_.fd(); }

private:
    // The frame that a read waits for, and its deadline. Without a deadline, the read waits while
    // the peer is not silent.
    struct wait_condition {
        std::string_view expected_frame;
        idle_work* idle = nullptr;
        std::optional<clock::time_point> deadline{};
    };
    void flush();
    template<class Read>
    void wait_for(const Read& read, const wait_condition& condition);
    void check_time(const wait_condition& condition);
    [[nodiscard]] bool has_been_silent() noexcept;
    [[nodiscard]] frame read_frame(const wait_condition& condition);
    [[nodiscard]] frame read_next_frame(const wait_condition& condition);
    [[nodiscard]] frame receive_one_of(const wait_condition& condition, frame_type expected,
                                       std::optional<frame_type> or_else);
    void take_alive() noexcept;

    frame_stream stream_;  // one thread sends and one receives, by the mutexes below
    const std::chrono::milliseconds silence_timeout_;
    std::mutex sending_;
    std::mutex receiving_;
    std::vector<std::byte> content_;  // of the frame that is received
    // Guards the members below: both threads check for silence.
    std::mutex listening_;
    clock::time_point last_heard_;
    std::uint64_t last_total_ = 0;  // received and unread bytes at the time of the last arrival
};

// A sleeping thread that waits for the end of the control connection, or for the silence of the
// peer, and sends keepalives to the peer. When the peer is lost, it sets the flag, and every
// waiting loop gives up. If one is stuck inside the library, the thread ends the process after a
// few seconds. Owned by the session; the main thread creates and destroys it.
class peer_watch {
public:
    peer_watch(control& peer, stop_flag& stop);
    ~peer_watch();
    peer_watch(const peer_watch&) = delete;
    peer_watch& operator=(const peer_watch&) = delete;

    // Returns whether the peer is connected, but has sent nothing for the silence timeout.
    [[nodiscard]] bool found_silence() const noexcept { return found_silence_; }

private:
    void run(control& peer, stop_flag& stop);

    std::atomic<bool> found_silence_{false};

    ucs::unique_fd end_;  // eventfd, written by the destructor
    std::thread thread_;
};

}  // namespace tools::perf
