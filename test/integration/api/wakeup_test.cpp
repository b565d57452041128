// Sleeping on a worker, and the events that wake it.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

constexpr int long_time = 60'000;  // milliseconds; passes only if no event wakes

world_options with_wakeup(ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE) {
    world_options options;
    options.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
    options.threads = mode;
    return options;
}

int descriptor_of(ucp_worker_h worker) {
    int fd = -1;
    REQUIRE(ucp_worker_get_efd(worker, &fd) == UCS_OK);
    return fd;
}

bool readable(int fd, int timeout_ms) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
}

// Processes all events, so that the next event wakes.
void arm_worker(const world& in, ucp_worker_h worker) {
    ucs_status_t status = UCS_ERR_BUSY;
    REQUIRE(in.progress_until([&] { return (status = ucp_worker_arm(worker)) != UCS_ERR_BUSY; }));
    REQUIRE(status == UCS_OK);
}

// A timer of a transport may be due at this moment, but not for ever.
void make_idle(const world& in, ucp_worker_h worker) {
    do {
        arm_worker(in, worker);
    } while (readable(descriptor_of(worker), 0));
}

enum class sleep_method { waiting, arming };

// Makes progress, and sleeps if there was nothing to do. Returns false if no event woke the thread.
bool turn(ucp_worker_h worker, sleep_method method, int fd) {
    if (ucp_worker_progress(worker) != 0) return true;
    if (method == sleep_method::waiting) return ucp_worker_wait(worker) == UCS_OK;
    const ucs_status_t status = ucp_worker_arm(worker);
    if (status != UCS_OK) return status == UCS_ERR_BUSY;
    return readable(fd, long_time);
}

// Waits for an operation in a thread that owns the worker. Catch2's macros work only in the main
// thread.
bool finish(ucp_worker_h worker, ucs_status_ptr_t started, sleep_method method, int fd) {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started) == UCS_OK;
    bool good = true;
    while (good && ucp_request_check_status(started) == UCS_INPROGRESS)
        good = turn(worker, method, fd);
    good = good && ucp_request_check_status(started) == UCS_OK;
    ucp_request_free(started);
    return good;
}

constexpr std::size_t lengths[] = {0, 8, 8, 300, 8, 20'000, 300'000, 8, 2'000'000};

// One side of a ping-pong.
bool ping_pong(ucp_worker_h worker, ucp_ep_h ep, bool begins, sleep_method method, int fd) {
    for (unsigned round = 0; round < 20; ++round) {
        for (const std::size_t length : lengths) {
            const auto data = pattern(length, round);
            std::vector<std::byte> into(length);
            const auto receive = ucp_tag_recv_nbx(worker, into.data(), length, 1, all_bits, &none);
            if (!begins && !finish(worker, receive, method, fd)) return false;
            const auto send = ucp_tag_send_nbx(ep, data.data(), length, 1, &none);
            if (!finish(worker, send, method, fd)) return false;
            if (begins && !finish(worker, receive, method, fd)) return false;
            if (into != data) return false;
        }
    }
    return true;
}

// A worker in an event set of the program, and perhaps a peer of it.
class worker_in_set : public workers {
public:
    explicit worker_in_set(bool edge)
        : context(make_context(with_wakeup())), set_(::epoll_create1(EPOLL_CLOEXEC)) {
        ucp_worker_params_t params{};
        params.field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD | UCP_WORKER_PARAM_FIELD_USER_DATA |
                            UCP_WORKER_PARAM_FIELD_EVENTS;
        params.event_fd = set_;
        params.user_data = this;
        params.events = UCP_WAKEUP_TAG_RECV;
        if (edge) params.events |= UCP_WAKEUP_EDGE;
        REQUIRE(ucp_worker_create(context, &params, &worker) == UCS_OK);
    }
    ~worker_in_set() override {
        if (peer != nullptr) ucp_worker_destroy(peer);
        ucp_worker_destroy(worker);
        ucp_cleanup(context);
        ::close(set_);
    }
    worker_in_set(const worker_in_set&) = delete;
    worker_in_set& operator=(const worker_in_set&) = delete;

    // Returns true if the set reports the worker within the time.
    [[nodiscard]] bool is_reported(int timeout_ms) const {
        epoll_event event{};
        if (::epoll_wait(set_, &event, 1, timeout_ms) != 1) return false;
        void* const data = event.data.ptr;  // the structure is packed
        CHECK(data == this);
        return true;
    }
    unsigned progress() const override {
        return ucp_worker_progress(worker) + (peer == nullptr ? 0 : ucp_worker_progress(peer));
    }
    // Processes all events, also of the peer, so that the next event wakes.
    void make_idle() const {
        do {
            while (ucp_worker_arm(worker) == UCS_ERR_BUSY)
                progress();
        } while (is_reported(0));
    }

    ucp_context_h context;
    ucp_worker_h worker = nullptr;
    ucp_worker_h peer = nullptr;

private:
    int set_;
};

}  // namespace

TEST_CASE("a message makes the descriptor of a sleeping worker readable", "[wakeup]") {
    const world in(with_wakeup());
    const int fd = descriptor_of(in.receiver);
    for (std::uint64_t i = 0; i < 20; ++i) {
        make_idle(in, in.receiver);
        if (in.loopback()) CHECK_FALSE(readable(fd, 0));
        const auto send = ucp_tag_send_nbx(in.ep, &i, sizeof i, 7, &none);
        REQUIRE(readable(fd, long_time));
        CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
        std::uint64_t got = ~i;
        in.recv(&got, sizeof got, 7);
        CHECK(got == i);
        CHECK(in.finish(send) == UCS_OK);
    }
    make_idle(in, in.receiver);
}

TEST_CASE("a signal from any thread wakes once", "[wakeup]") {
    const world in(with_wakeup());
    make_idle(in, in.receiver);
    SECTION("a waiting thread") {
        std::thread other([&] { ucp_worker_signal(in.receiver); });
        CHECK(ucp_worker_wait(in.receiver) == UCS_OK);
        other.join();
    }
    SECTION("a polling thread") {
        std::thread other([&] { ucp_worker_signal(in.receiver); });
        CHECK(readable(descriptor_of(in.receiver), long_time));
        other.join();
    }
    SECTION("a thread that sleeps later") {
        CHECK(ucp_worker_signal(in.receiver) == UCS_OK);
        CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
        CHECK(ucp_worker_wait(in.receiver) == UCS_OK);
    }
    make_idle(in, in.receiver);
}

TEST_CASE("an event that another thread's progress handles still wakes", "[wakeup]") {
    // This thread acts as the sleeping thread and as the other thread.
    const world in(with_wakeup(UCS_THREAD_MODE_MULTI));
    const int fd = descriptor_of(in.receiver);
    const auto drain = [&] {
        while (ucp_worker_progress(in.receiver) != 0) {
        }
    };
    SECTION("a message") {
        std::uint64_t got = 0;
        outcome received;
        params with_callback;
        with_callback.on_recv(received);
        const auto receive =
            ucp_tag_recv_nbx(in.receiver, &got, sizeof got, 7, all_bits, &with_callback);
        REQUIRE(UCS_PTR_IS_PTR(receive));
        make_idle(in, in.receiver);
        const std::uint64_t sent = 5;
        const auto send = ucp_tag_send_nbx(in.ep, &sent, sizeof sent, 7, &none);
        REQUIRE(in.progress_until([&] { return received.calls == 1; }));
        CHECK(in.finish(send) == UCS_OK);
        ucp_request_free(receive);
        drain();
    }
    SECTION("a signal") {
        make_idle(in, in.receiver);
        REQUIRE(ucp_worker_signal(in.receiver) == UCS_OK);
        for (unsigned i = 0; i < 1000; ++i)
            ucp_worker_progress(in.receiver);
    }
    CHECK(readable(fd, 0));
    make_idle(in, in.receiver);
}

TEST_CASE("a signal after the last check of the condition is not lost", "[wakeup]") {
    const world in(with_wakeup());
    make_idle(in, in.receiver);
    REQUIRE(ucp_worker_signal(in.receiver) == UCS_OK);
    for (unsigned i = 0; i < 1000; ++i)
        ucp_worker_progress(in.receiver);
    CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
    make_idle(in, in.receiver);
}

TEST_CASE("two threads that sleep whenever they are idle miss no event", "[wakeup]") {
    if (only_self()) return;
    const sleep_method method = GENERATE(sleep_method::waiting, sleep_method::arming);
    const world in(with_wakeup());
    const ucp_ep_h back = make_ep(in.receiver, in.sender);
    const int sender_fd = descriptor_of(in.sender);
    const int receiver_fd = descriptor_of(in.receiver);
    std::atomic<bool> good{false};
    std::thread other([&] { good = ping_pong(in.receiver, back, false, method, receiver_fd); });
    CHECK(ping_pong(in.sender, in.ep, true, method, sender_fd));
    other.join();
    CHECK(good);
    in.close(back);
}

TEST_CASE("a thread that sleeps on one of its workers can make progress for the other one",
          "[wakeup]") {
    if (only_self()) return;
    world_options options = with_wakeup();
    options.connect = false;  // connecting needs progress of both
    const world in(options);
    const std::uint64_t word = 5;
    const auto send = ucp_tag_send_nbx(in.ep, &word, sizeof word, 7, &none);
    if (UCS_PTR_IS_PTR(send)) {
        const int fd = descriptor_of(in.sender);
        while (ucp_request_check_status(send) == UCS_INPROGRESS) {
            REQUIRE(turn(in.sender, sleep_method::arming, fd));
            ucp_worker_progress(in.receiver);
        }
    }
    CHECK(in.finish(send) == UCS_OK);
    std::uint64_t got = 0;
    in.recv(&got, sizeof got, 7);
    CHECK(got == word);
}

TEST_CASE("the close of a peer wakes a sleeping thread", "[wakeup]") {
    if (only_self()) return;
    const world in(with_wakeup());
    make_idle(in, in.receiver);
    const auto closing = ucp_ep_close_nbx(make_ep(in.sender, in.receiver), &none);
    make_idle(in, in.receiver);
    const ucp_ep_h used = make_ep(in.sender, in.receiver);
    std::uint64_t word = 0;
    const auto send = ucp_tag_send_nbx(used, &word, sizeof word, 7, &none);
    REQUIRE(readable(descriptor_of(in.receiver), long_time));
    in.recv(&word, sizeof word, 7);
    CHECK(in.finish(send) == UCS_OK);
    make_idle(in, in.receiver);
    const auto closed = ucp_ep_close_nbx(used, &none);
    CHECK(readable(descriptor_of(in.receiver), long_time));
    CHECK(in.finish(closed) == UCS_OK);
    CHECK(in.finish(closing) == UCS_OK);
}

TEST_CASE("a sending thread wakes a thread that sleeps on the same worker", "[wakeup]") {
    if (!only_self()) return;
    const world in(with_wakeup(UCS_THREAD_MODE_MULTI));
    std::uint64_t word = 0;
    const auto receive = ucp_tag_recv_nbx(in.receiver, &word, sizeof word, 7, all_bits, &none);
    std::atomic<bool> good{false};
    std::thread sleeper([&] {
        good = finish(in.receiver, receive, sleep_method::arming, descriptor_of(in.receiver));
    });
    const std::uint64_t data = 5;
    const auto send = ucp_tag_send_nbx(in.ep, &data, sizeof data, 7, &none);
    sleeper.join();
    CHECK(good);
    CHECK(word == 5);
    CHECK(in.finish(send) == UCS_OK);
}

TEST_CASE("a worker is reported by the program's own event set", "[wakeup]") {
    const bool edge = GENERATE(false, true);
    const worker_in_set in(edge);
    int fd = -1;
    CHECK(ucp_worker_get_efd(in.worker, &fd) == UCS_ERR_UNSUPPORTED);
    in.make_idle();
    for (unsigned i = 0; i < 3; ++i) {
        REQUIRE(ucp_worker_signal(in.worker) == UCS_OK);
        REQUIRE(in.is_reported(long_time));
        // Reported once, or for as long as the event is pending.
        CHECK(in.is_reported(0) == !edge);
        CHECK(ucp_worker_arm(in.worker) == UCS_ERR_BUSY);
        while (ucp_worker_arm(in.worker) == UCS_ERR_BUSY)
            ucp_worker_progress(in.worker);
        CHECK_FALSE(in.is_reported(0));
    }
}

TEST_CASE("an event set reports a connection, a message and the end of a peer", "[wakeup]") {
    if (only_self()) return;
    const bool edge = GENERATE(false, true);
    CAPTURE(edge);
    worker_in_set in(edge);
    in.peer = make_worker(in.context, with_wakeup());
    const ucp_ep_h ep = make_ep(in.peer, in.worker);
    for (std::uint64_t word = 0; word < 3; ++word) {  // the first one connects
        in.make_idle();
        const auto send = ucp_tag_send_nbx(ep, &word, sizeof word, 7, &none);
        REQUIRE(in.is_reported(long_time));
        CHECK(ucp_worker_arm(in.worker) == UCS_ERR_BUSY);
        std::uint64_t got = ~word;
        CHECK(in.finish(ucp_tag_recv_nbx(in.worker, &got, sizeof got, 7, all_bits, &none)) ==
              UCS_OK);
        CHECK(got == word);
        CHECK(in.finish(send) == UCS_OK);
    }
    in.make_idle();
    const auto closed = ucp_ep_close_nbx(ep, &none);
    CHECK(in.is_reported(long_time));
    CHECK(in.finish(closed) == UCS_OK);
}

TEST_CASE("a destroyed worker leaves its event set, and only an event set is accepted",
          "[wakeup]") {
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    const ucp_context_h context = make_context(with_wakeup());
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD;
    params.event_fd = set;
    ucp_worker_h worker = nullptr;
    REQUIRE(ucp_worker_create(context, &params, &worker) == UCS_OK);
    REQUIRE(ucp_worker_signal(worker) == UCS_OK);
    ucp_worker_destroy(worker);
    epoll_event event{};
    CHECK(::epoll_wait(set, &event, 1, 0) == 0);
    ::close(set);
    const captured_output quiet;
    CHECK(ucp_worker_create(context, &params, &worker) == UCS_ERR_INVALID_PARAM);
    ucp_cleanup(context);
}

TEST_CASE("waiting for memory ends when another thread or process writes there", "[wakeup]") {
    // A page that is shared with a child process.
    void* const page = ::mmap(nullptr, sizeof(unsigned char), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    auto* const bytes = static_cast<unsigned char*>(page);
    const std::atomic_ref request_byte(bytes[0]);
    const std::atomic_ref reply_byte(bytes[1]);
    constexpr unsigned char last = 100;
    // Replies to each number in one byte with the same number in the other byte. Neither side
    // continues before the wait of the other side has ended.
    const auto reply_to_all = [&] {
        for (unsigned char number = 1; number <= last; ++number) {
            while (request_byte.load() != number)
                std::this_thread::yield();
            reply_byte.store(number);
        }
    };
    const bool by_process = GENERATE(false, true);
    CAPTURE(by_process);
    const pid_t child = by_process ? ::fork() : -1;
    if (child == 0) {
        reply_to_all();
        ::_exit(0);
    }
    std::thread thread;
    if (!by_process) thread = std::thread(reply_to_all);
    {
        const world in(with_wakeup());
        for (unsigned char number = 1; number <= last; ++number) {
            request_byte.store(number);
            while (reply_byte.load() != number)
                ucp_worker_wait_mem(in.receiver, bytes + 1);
        }
        CHECK(reply_byte.load() == last);
    }
    if (by_process) {
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    } else {
        thread.join();
    }
    ::munmap(page, 1);
}

TEST_CASE("waiting for memory also ends without a change: soon, and immediately if there is work",
          "[wakeup]") {
    const world in(with_wakeup());
    unsigned char byte = 5;
    make_idle(in, in.receiver);
    for (unsigned i = 0; i < 100; ++i)
        ucp_worker_wait_mem(in.receiver, &byte);  // no write and no signal
    // The signal is kept for progress and for sleeping.
    REQUIRE(ucp_worker_signal(in.receiver) == UCS_OK);
    ucp_worker_wait_mem(in.receiver, &byte);
    CHECK(byte == 5);
    CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
    ucp_worker_wait_mem(nullptr, &byte);
    ucp_worker_wait_mem(in.receiver, nullptr);
    make_idle(in, in.receiver);
}

TEST_CASE("a worker without the wakeup feature cannot sleep", "[wakeup]") {
    const world in;
    captured_output log;
    int fd = -1;
    CHECK(ucp_worker_get_efd(in.receiver, &fd) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_worker_wait(in.receiver) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_worker_signal(in.receiver) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_worker_arm(nullptr) == UCS_ERR_INVALID_PARAM);
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD;
    params.event_fd = 0;
    ucp_worker_h worker = nullptr;
    CHECK(ucp_worker_create(in.context, &params, &worker) == UCS_ERR_INVALID_PARAM);
    CHECK(log.text().find("UCP_FEATURE_WAKEUP") != std::string::npos);
}
