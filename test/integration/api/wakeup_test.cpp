// Sleeping on a worker, and what wakes.
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

constexpr ucp_tag_t all_bits = ~ucp_tag_t{0};
constexpr int long_time = 60'000;  // milliseconds; passes only where nobody wakes

plan sleepers(ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE) {
    plan how;
    how.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
    how.threads = mode;
    return how;
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

// Everything that is there is dealt with, and the next thing wakes.
void put_to_sleep(const world& in, ucp_worker_h worker) {
    ucs_status_t status = UCS_ERR_BUSY;
    REQUIRE(in.until([&] { return (status = ucp_worker_arm(worker)) != UCS_ERR_BUSY; }));
    REQUIRE(status == UCS_OK);
}

// A timer of a transport may be due in just this moment, but not for ever.
void put_to_rest(const world& in, ucp_worker_h worker) {
    do {
        put_to_sleep(in, worker);
    } while (readable(descriptor_of(worker), 0));
}

enum class sleep_by { waiting, arming };

// Progress, and sleep when there was nothing to do. False: nobody woke.
bool turn(ucp_worker_h worker, sleep_by how, int fd) {
    if (ucp_worker_progress(worker) != 0) return true;
    if (how == sleep_by::waiting) return ucp_worker_wait(worker) == UCS_OK;
    const ucs_status_t status = ucp_worker_arm(worker);
    if (status != UCS_OK) return status == UCS_ERR_BUSY;
    return readable(fd, long_time);
}

// Waits for an operation in a thread that owns the worker; Catch2's macros are for the main one.
bool finish(ucp_worker_h worker, ucs_status_ptr_t started, sleep_by how, int fd) {
    if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started) == UCS_OK;
    bool good = true;
    while (good && ucp_request_check_status(started) == UCS_INPROGRESS)
        good = turn(worker, how, fd);
    good = good && ucp_request_check_status(started) == UCS_OK;
    ucp_request_free(started);
    return good;
}

constexpr std::size_t lengths[] = {0, 8, 8, 300, 8, 20'000, 300'000, 8, 2'000'000};

// One side of a ping-pong.
bool play(ucp_worker_h worker, ucp_ep_h ep, bool begins, sleep_by how, int fd) {
    const params none;
    for (unsigned round = 0; round < 20; ++round) {
        for (const std::size_t length : lengths) {
            const auto data = pattern(length, round);
            std::vector<std::byte> into(length);
            const auto receive = ucp_tag_recv_nbx(worker, into.data(), length, 1, all_bits, &none);
            if (!begins && !finish(worker, receive, how, fd)) return false;
            const auto send = ucp_tag_send_nbx(ep, data.data(), length, 1, &none);
            if (!finish(worker, send, how, fd)) return false;
            if (begins && !finish(worker, receive, how, fd)) return false;
            if (into != data) return false;
        }
    }
    return true;
}

// A worker that the program has in an event set of its own.
class worker_in_set {
public:
    explicit worker_in_set(bool edge)
        : context(make_context(sleepers())), set_(::epoll_create1(EPOLL_CLOEXEC)) {
        ucp_worker_params_t params{};
        params.field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD | UCP_WORKER_PARAM_FIELD_USER_DATA |
                            UCP_WORKER_PARAM_FIELD_EVENTS;
        params.event_fd = set_;
        params.user_data = this;
        params.events = UCP_WAKEUP_TAG_RECV;
        if (edge) params.events |= UCP_WAKEUP_EDGE;
        REQUIRE(ucp_worker_create(context, &params, &worker) == UCS_OK);
    }
    ~worker_in_set() {
        ucp_worker_destroy(worker);
        ucp_cleanup(context);
        ::close(set_);
    }
    worker_in_set(const worker_in_set&) = delete;
    worker_in_set& operator=(const worker_in_set&) = delete;

    // Whether the set tells of the worker within that time.
    [[nodiscard]] bool told(int timeout_ms) const {
        epoll_event event{};
        if (::epoll_wait(set_, &event, 1, timeout_ms) != 1) return false;
        void* const data = event.data.ptr;  // the structure is packed
        CHECK(data == this);
        return true;
    }
    // Everything that is there is dealt with, at the other worker too, and the next thing wakes.
    void rest(ucp_worker_h other) const {
        do {
            while (ucp_worker_arm(worker) == UCS_ERR_BUSY) {
                ucp_worker_progress(worker);
                ucp_worker_progress(other);
            }
        } while (told(0));
    }

    ucp_context_h context;
    ucp_worker_h worker = nullptr;

private:
    int set_;
};

}  // namespace

TEST_CASE("a message makes the descriptor of a sleeping worker readable", "[wakeup]") {
    const world in(sleepers());
    const int fd = descriptor_of(in.receiver);
    for (std::uint64_t i = 0; i < 20; ++i) {
        put_to_rest(in, in.receiver);
        if (in.loopback()) CHECK_FALSE(readable(fd, 0));
        const params none;
        const auto send = ucp_tag_send_nbx(in.ep, &i, sizeof i, 7, &none);
        REQUIRE(readable(fd, long_time));
        CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
        std::uint64_t got = ~i;
        in.recv(&got, sizeof got, 7);
        CHECK(got == i);
        CHECK(in.finish(send) == UCS_OK);
    }
    put_to_rest(in, in.receiver);
}

TEST_CASE("a signal wakes, from any thread, and counts once", "[wakeup]") {
    const world in(sleepers());
    put_to_rest(in, in.receiver);
    SECTION("who waits") {
        std::thread other([&] { ucp_worker_signal(in.receiver); });
        CHECK(ucp_worker_wait(in.receiver) == UCS_OK);
        other.join();
    }
    SECTION("who polls") {
        std::thread other([&] { ucp_worker_signal(in.receiver); });
        CHECK(readable(descriptor_of(in.receiver), long_time));
        other.join();
    }
    SECTION("who comes later") {
        CHECK(ucp_worker_signal(in.receiver) == UCS_OK);
        CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
        CHECK(ucp_worker_wait(in.receiver) == UCS_OK);
    }
    put_to_rest(in, in.receiver);
}

TEST_CASE("what another thread's progress takes wakes all the same", "[wakeup]") {
    // This thread sleeps and is the other one as well.
    const world in(sleepers(UCS_THREAD_MODE_MULTI));
    const int fd = descriptor_of(in.receiver);
    const auto rest = [&] {
        while (ucp_worker_progress(in.receiver) != 0) {
        }
    };
    SECTION("a message") {
        std::uint64_t got = 0;
        outcome received;
        const params none;
        params told;
        told.on_recv(received);
        const auto receive = ucp_tag_recv_nbx(in.receiver, &got, sizeof got, 7, all_bits, &told);
        REQUIRE(UCS_PTR_IS_PTR(receive));
        put_to_rest(in, in.receiver);
        const std::uint64_t sent = 5;
        const auto send = ucp_tag_send_nbx(in.ep, &sent, sizeof sent, 7, &none);
        REQUIRE(in.until([&] { return received.calls == 1; }));
        CHECK(in.finish(send) == UCS_OK);
        ucp_request_free(receive);
        rest();
    }
    SECTION("a signal") {
        put_to_rest(in, in.receiver);
        REQUIRE(ucp_worker_signal(in.receiver) == UCS_OK);
        for (unsigned i = 0; i < 1000; ++i)
            ucp_worker_progress(in.receiver);
    }
    CHECK(readable(fd, 0));
    put_to_rest(in, in.receiver);
}

TEST_CASE("a signal after the last look at what is waited for is not lost", "[wakeup]") {
    const world in(sleepers());
    put_to_rest(in, in.receiver);
    REQUIRE(ucp_worker_signal(in.receiver) == UCS_OK);
    for (unsigned i = 0; i < 1000; ++i)
        ucp_worker_progress(in.receiver);
    CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
    put_to_rest(in, in.receiver);
}

TEST_CASE("two threads that sleep whenever there is nothing to do miss nothing", "[wakeup]") {
    if (only_self()) return;
    const sleep_by how = GENERATE(sleep_by::waiting, sleep_by::arming);
    const world in(sleepers());
    const ucp_ep_h back = make_ep(in.receiver, in.sender);
    const int here = descriptor_of(in.sender);
    const int there = descriptor_of(in.receiver);
    std::atomic<bool> good{false};
    std::thread other([&] { good = play(in.receiver, back, false, how, there); });
    CHECK(play(in.sender, in.ep, true, how, here));
    other.join();
    CHECK(good);
    in.close(back);
}

TEST_CASE("who sleeps for one of its workers gets to make progress for the other one", "[wakeup]") {
    if (only_self()) return;
    plan how = sleepers();
    how.connect = false;  // connecting needs both
    const world in(how);
    const std::uint64_t word = 5;
    const params none;
    const auto send = ucp_tag_send_nbx(in.ep, &word, sizeof word, 7, &none);
    if (UCS_PTR_IS_PTR(send)) {
        const int fd = descriptor_of(in.sender);
        while (ucp_request_check_status(send) == UCS_INPROGRESS) {
            REQUIRE(turn(in.sender, sleep_by::arming, fd));
            ucp_worker_progress(in.receiver);
        }
    }
    CHECK(in.finish(send) == UCS_OK);
    std::uint64_t got = 0;
    in.recv(&got, sizeof got, 7);
    CHECK(got == word);
}

TEST_CASE("the close of a peer wakes who sleeps", "[wakeup]") {
    if (only_self()) return;
    const world in(sleepers());
    put_to_rest(in, in.receiver);
    const params none;
    const auto closing = ucp_ep_close_nbx(make_ep(in.sender, in.receiver), &none);
    put_to_rest(in, in.receiver);
    const ucp_ep_h used = make_ep(in.sender, in.receiver);
    std::uint64_t word = 0;
    const auto send = ucp_tag_send_nbx(used, &word, sizeof word, 7, &none);
    REQUIRE(readable(descriptor_of(in.receiver), long_time));
    in.recv(&word, sizeof word, 7);
    CHECK(in.finish(send) == UCS_OK);
    put_to_rest(in, in.receiver);
    const auto closed = ucp_ep_close_nbx(used, &none);
    CHECK(readable(descriptor_of(in.receiver), long_time));
    CHECK(in.finish(closed) == UCS_OK);
    CHECK(in.finish(closing) == UCS_OK);
}

TEST_CASE("a thread that sends wakes the one that sleeps on the same worker", "[wakeup]") {
    if (!only_self()) return;
    const world in(sleepers(UCS_THREAD_MODE_MULTI));
    std::uint64_t word = 0;
    const params none;
    const auto receive = ucp_tag_recv_nbx(in.receiver, &word, sizeof word, 7, all_bits, &none);
    std::atomic<bool> good{false};
    std::thread sleeper(
        [&] { good = finish(in.receiver, receive, sleep_by::arming, descriptor_of(in.receiver)); });
    const std::uint64_t data = 5;
    const auto send = ucp_tag_send_nbx(in.ep, &data, sizeof data, 7, &none);
    sleeper.join();
    CHECK(good);
    CHECK(word == 5);
    CHECK(in.finish(send) == UCS_OK);
}

TEST_CASE("a worker shows in the program's own event set", "[wakeup]") {
    const bool edge = GENERATE(false, true);
    const worker_in_set in(edge);
    int fd = -1;
    CHECK(ucp_worker_get_efd(in.worker, &fd) == UCS_ERR_UNSUPPORTED);
    in.rest(in.worker);
    for (unsigned i = 0; i < 3; ++i) {
        REQUIRE(ucp_worker_signal(in.worker) == UCS_OK);
        REQUIRE(in.told(long_time));
        // Told once, or for as long as it is so.
        CHECK(in.told(0) == !edge);
        CHECK(ucp_worker_arm(in.worker) == UCS_ERR_BUSY);
        while (ucp_worker_arm(in.worker) == UCS_ERR_BUSY)
            ucp_worker_progress(in.worker);
        CHECK_FALSE(in.told(0));
    }
}

TEST_CASE("an event set is told of a connection, a message and a peer's end", "[wakeup]") {
    if (only_self()) return;
    const bool edge = GENERATE(false, true);
    CAPTURE(edge);
    const worker_in_set in(edge);
    const ucp_worker_h peer = make_worker(in.context, sleepers());
    const params none;
    const auto finish_here = [&](ucs_status_ptr_t started) {
        if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started);
        while (ucp_request_check_status(started) == UCS_INPROGRESS) {
            ucp_worker_progress(peer);
            ucp_worker_progress(in.worker);
        }
        const ucs_status_t status = ucp_request_check_status(started);
        ucp_request_free(started);
        return status;
    };
    const ucp_ep_h ep = make_ep(peer, in.worker);
    for (std::uint64_t word = 0; word < 3; ++word) {  // the first one connects
        in.rest(peer);
        const auto send = ucp_tag_send_nbx(ep, &word, sizeof word, 7, &none);
        REQUIRE(in.told(long_time));
        CHECK(ucp_worker_arm(in.worker) == UCS_ERR_BUSY);
        std::uint64_t got = ~word;
        CHECK(finish_here(ucp_tag_recv_nbx(in.worker, &got, sizeof got, 7, all_bits, &none)) ==
              UCS_OK);
        CHECK(got == word);
        CHECK(finish_here(send) == UCS_OK);
    }
    in.rest(peer);
    const auto closed = ucp_ep_close_nbx(ep, &none);
    CHECK(in.told(long_time));
    CHECK(finish_here(closed) == UCS_OK);
    ucp_worker_destroy(peer);
}

TEST_CASE("an event set is left by a worker that goes, and has to be one", "[wakeup]") {
    const int set = ::epoll_create1(EPOLL_CLOEXEC);
    const ucp_context_h context = make_context(sleepers());
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

TEST_CASE("waiting for memory sees what another thread or process writes there", "[wakeup]") {
    // A page that a child shares.
    void* const page = ::mmap(nullptr, sizeof(unsigned char), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    auto* const bytes = static_cast<unsigned char*>(page);
    const std::atomic_ref ours(bytes[0]);
    const std::atomic_ref theirs(bytes[1]);
    constexpr unsigned char last = 100;
    // Answers each number in one byte with the same one in the other: neither side goes on before
    // the other one's waiting ended.
    const auto answer = [&] {
        for (unsigned char number = 1; number <= last; ++number) {
            while (ours.load() != number)
                std::this_thread::yield();
            theirs.store(number);
        }
    };
    const bool by_process = GENERATE(false, true);
    CAPTURE(by_process);
    const pid_t child = by_process ? ::fork() : -1;
    if (child == 0) {
        answer();
        ::_exit(0);
    }
    std::thread thread;
    if (!by_process) thread = std::thread(answer);
    {
        const world in(sleepers());
        for (unsigned char number = 1; number <= last; ++number) {
            ours.store(number);
            while (theirs.load() != number)
                ucp_worker_wait_mem(in.receiver, bytes + 1);
        }
        CHECK(theirs.load() == last);
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

TEST_CASE("waiting for memory ends without a change too: soon, and at once if there is work",
          "[wakeup]") {
    const world in(sleepers());
    unsigned char byte = 5;
    put_to_rest(in, in.receiver);
    for (unsigned i = 0; i < 100; ++i)
        ucp_worker_wait_mem(in.receiver, &byte);  // nobody writes, nobody signals
    // What it saw is left for progress and for sleeping.
    REQUIRE(ucp_worker_signal(in.receiver) == UCS_OK);
    ucp_worker_wait_mem(in.receiver, &byte);
    CHECK(byte == 5);
    CHECK(ucp_worker_arm(in.receiver) == UCS_ERR_BUSY);
    ucp_worker_wait_mem(nullptr, &byte);
    ucp_worker_wait_mem(in.receiver, nullptr);
    put_to_rest(in, in.receiver);
}

TEST_CASE("who did not ask for waking cannot sleep", "[wakeup]") {
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
