#include "tools/perf/net/control.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

constexpr int send_timeout_ms = 10'000;
// The limit of frames that are read in a row without waiting. A well-behaved peer sends fewer, and
// a peer that sends without pause does not keep a thread busy.
constexpr unsigned most_frames_in_a_row = 1000;

std::string_view name_of(frame_type type) {
    switch (type) {
        case frame_type::hello:
            return "hello";
        case frame_type::test:
            return "test";
        case frame_type::addresses:
            return "addresses";
        case frame_type::barrier:
            return "barrier";
        case frame_type::failure:
            return "failure";
        case frame_type::finish:
            return "finish";
        case frame_type::alive:
            return "alive";
    }
    return "unknown";
}

}  // namespace

void control::send(frame_type type, std::span<const std::byte> content) {
    const auto header = pack_header(type, static_cast<std::uint32_t>(content.size()));
    try {
        const std::lock_guard lock(sending_);
        flush();  // an alive frame may have left in part
        stream_.put(header, content);
        flush();
    } catch (const failure& reason) {
        throw failure(take_failure_report().value_or(reason.what()));
    }
}

// Caller must hold sending_. If it throws, nothing of the frame is sent any more.
void control::flush() {
    for (;;) {
        const ucs_status_t status = stream_.flush();
        if (status == UCS_OK) return;
        const int error = errno;
        pollfd waiting{fd(), POLLOUT, 0};
        if (status == UCS_INPROGRESS && ::poll(&waiting, 1, send_timeout_ms) != 0) continue;
        stream_.forget_body();
        if (status == UCS_INPROGRESS) throw failure("control connection: the peer does not read");
        throw failure(fmt::format("control connection: send: {}", std::strerror(error)));
    }
}

void control::send_alive() noexcept {
    const std::unique_lock lock(sending_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    if (!stream_.is_sending()) {
        // If data is still unsent, the peer will receive it as a sign of life; the watch detects
        // the end of the connection.
        if (int unsent = 0; ::ioctl(fd(), SIOCOUTQ, &unsent) != 0 || unsent > 0) return;
        stream_.put(pack_header(frame_type::alive));
    }
    static_cast<void>(stream_.flush());
}

// Discards unread alive frames, so that they do not fill the socket during a long measurement.
void control::take_alive() noexcept {
    const std::unique_lock lock(receiving_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    for (unsigned frames = 0; frames < most_frames_in_a_row; ++frames) {
        if (stream_.in_record() || stream_.read_header() != UCS_OK) return;
        const frame_header& header = stream_.header();
        if (header.type != frame_type::alive || header.length != 0) return;
        static_cast<void>(stream_.read_body({}));
    }
}

bool control::is_silent() noexcept {
    if (silence_timeout_.count() == 0) return false;
    take_alive();
    return has_been_silent();
}

// Counts received and unread bytes, so the result does not depend on when a thread reads.
bool control::has_been_silent() noexcept {
    if (silence_timeout_.count() == 0) return false;
    const std::lock_guard lock(listening_);
    int unread = 0;
    if (::ioctl(fd(), FIONREAD, &unread) != 0) unread = 0;
    const std::uint64_t total = stream_.received() + static_cast<std::uint64_t>(unread);
    const clock::time_point now = clock::now();
    if (std::exchange(last_total_, total) != total) last_heard_ = now;
    return now - last_heard_ >= silence_timeout_;
}

void control::check_time(const wait_condition& condition) {
    if (condition.deadline) {
        if (clock::now() < *condition.deadline) return;
        throw failure(
            fmt::format("the peer sent nothing over the control connection in time, while this "
                        "side waited for {}",
                        condition.expected_frame));
    }
    if (!has_been_silent()) return;
    throw failure(
        fmt::format("the peer has said nothing for {} s, while this side waited for {}: it is "
                    "stopped, or cannot be reached any more",
                    silence_timeout_.count() / 1000, condition.expected_frame));
}

// Repeats `read` until it has received everything.
template<class Read>
void control::wait_for(const Read& read, const wait_condition& condition) {
    // Wake up regularly, to check the deadline and the silence of the peer.
    constexpr int longest_sleep_ms = 100;
    for (ucs_status_t status = read(); status != UCS_OK; status = read()) {
        if (status == UCS_ERR_INVALID_PARAM)
            throw failure("the peer does not speak this version of the test protocol");
        if (status != UCS_INPROGRESS && errno == 0)
            throw failure("the peer closed the control connection");
        if (status != UCS_INPROGRESS)
            throw failure(fmt::format("control connection: recv: {}", std::strerror(errno)));
        check_time(condition);
        if (condition.idle != nullptr) {
            (*condition.idle)();
        } else {
            pollfd ready{fd(), POLLIN, 0};
            ::poll(&ready, 1, longest_sleep_ms);
        }
    }
}

// Caller must hold receiving_.
frame control::read_frame(const wait_condition& condition) {
    if (!stream_.in_record()) wait_for([&] { return stream_.read_header(); }, condition);
    content_.resize(stream_.header().length);
    wait_for([&] { return stream_.read_body(content_); }, condition);
    frame received{stream_.header().type, std::exchange(content_, {})};
    if (received.type == frame_type::failure) {
        throw failure("the peer reports: " + printable(received.content));
    }
    return received;
}

// Alive frames must not delay the deadline or the idle work of this side.
frame control::read_next_frame(const wait_condition& condition) {
    const std::lock_guard lock(receiving_);
    for (;;) {
        frame received = read_frame(condition);
        if (received.type != frame_type::alive) return received;
        check_time(condition);
        if (condition.idle != nullptr) (*condition.idle)();
    }
}

frame control::receive_one_of(const wait_condition& condition, frame_type expected,
                              std::optional<frame_type> or_else) {
    frame received = read_next_frame(condition);
    if (received.type == expected || received.type == or_else) return received;
    throw failure(fmt::format("the peer sent a {} frame where a {} frame belongs",
                              name_of(received.type), name_of(expected)));
}

frame control::receive(frame_type expected, idle_work* idle, std::optional<frame_type> or_else) {
    const std::string expected_frame = fmt::format("a {} frame", name_of(expected));
    return receive_one_of({.expected_frame = expected_frame, .idle = idle}, expected, or_else);
}

frame control::receive_within(frame_type expected, std::chrono::milliseconds limit) {
    const std::string expected_frame = fmt::format("a {} frame", name_of(expected));
    return receive_one_of({.expected_frame = expected_frame, .deadline = clock::now() + limit},
                          expected, {});
}

void control::barrier(idle_work& idle) {
    send(frame_type::barrier);
    static_cast<void>(receive_one_of({.expected_frame = "its barrier", .idle = &idle},
                                     frame_type::barrier, std::nullopt));
}

std::optional<std::string> control::take_failure_report() noexcept {
    try {
        const std::lock_guard lock(receiving_);
        for (unsigned frames = 0; frames < most_frames_in_a_row; ++frames) {
            static_cast<void>(
                read_frame({.expected_frame = "its failure report", .deadline = clock::now()}));
        }
    } catch (const failure& end) {
        const std::string_view text = end.what();
        if (text.starts_with("the peer reports: ")) return std::string(text);
    } catch (...) {
        // No further failure report can be read.
    }
    return std::nullopt;
}

namespace {

constexpr int grace_ms = 5'000;
// The interval is long enough that sending keepalives does not disturb a measurement.
constexpr int alive_interval_ms = 2'000;

ucs::unique_fd new_eventfd() {
    ucs::unique_fd fd(::eventfd(0, EFD_CLOEXEC));
    if (!fd) throw failure(fmt::format("eventfd: {}", std::strerror(errno)));
    return fd;
}

// Polls again after a signal. Returns false if the timeout has expired.
bool poll_restarting(pollfd* fds, nfds_t count, int timeout_ms) {
    int ready = 0;
    do {
        ready = ::poll(fds, count, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    return ready != 0;
}

}  // namespace

peer_watch::peer_watch(control& peer, stop_flag& stop)
    : end_(new_eventfd()), thread_([this, &peer, &stop] { run(peer, stop); }) {}

peer_watch::~peer_watch() {
    ::eventfd_write(end_.get(), 1);
    thread_.join();
}

void peer_watch::run(control& peer, stop_flag& stop) {
    std::array<pollfd, 2> fds{{{end_.get(), POLLIN, 0}, {peer.fd(), POLLRDHUP, 0}}};
    while (!poll_restarting(fds.data(), fds.size(), alive_interval_ms)) {
        peer.send_alive();
        if (!peer.is_silent()) continue;
        found_silence_ = true;
        break;
    }
    if (fds[0].revents != 0) return;
    stop.request();
    fds[0].revents = 0;
    poll_restarting(fds.data(), 1, grace_ms);
    if (fds[0].revents != 0) return;
    fmt::print(stderr,
               "ucx_perftest: the peer is gone or stopped and the library does not "
               "return; exiting\n");
    std::_Exit(exit_failure);
}

}  // namespace tools::perf
