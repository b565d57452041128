// Sends and receives the numbered messages of one thread with the tag functions.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "tools/perf/core/workload.hpp"
#include "tools/perf/ucp/message_memory.hpp"
#include "tools/perf/ucp/progress_loop.hpp"

namespace tools::perf {

struct tag_channel_setup {
    bool sync = false;
    unsigned window = 1;  // most messages in flight in a direction
};

// Messages of one direction. The owner's thread starts them; callbacks, one at a time but on any
// thread that progresses a shared worker, end them. No locked instruction per message.
class in_flight {
public:
    void started() noexcept { ++started_; }
    void ended_at_once() noexcept { --started_; }
    void ended_by_callback() noexcept {
        ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    [[nodiscard]] unsigned count() const noexcept {
        return started_ - ended_.load(std::memory_order_acquire);
    }

private:
    unsigned started_ = 0;  // both wrap around
    std::atomic<unsigned> ended_{0};
};

// Owned by a workload, used by one thread; its callbacks run on any thread that progresses the
// worker. Without validation all messages of a direction share
// one buffer, as nobody looks at the contents; with it each message in flight has its own.
class tag_channel {
public:
    tag_channel(const connection& on, const tag_channel_setup& setup);
    tag_channel(const tag_channel&) = delete;
    tag_channel& operator=(const tag_channel&) = delete;

    // Starts the next message; at most window - 1 may be in flight.
    void send();

    // Posts the receive of the next message, with -U only when the message is already here.
    void receive();

    // Progresses until at most `left` are in flight.
    void wait_sends(unsigned left) {
        if (sends_.count() > left) {
            loop_.until([&] { return sends_.count() <= left; });
        }
        throw_if_failed();
    }
    void wait_receives(unsigned left) {
        if (receives_.count() > left) {
            loop_.until([&] { return receives_.count() <= left; });
        }
        throw_if_failed();
    }

    // An empty message against the stream, outside the numbered ones.
    void acknowledge();
    void wait_acknowledgement();

    // Sends and receives one more message each and returns the library's words about the send.
    std::string describe_send();

private:
    // A message in flight.
    struct slot {
        tag_channel* channel = nullptr;
        std::size_t index = 0;
        std::uint64_t number = 0;
    };

    static void on_sent(void* request, ucs_status_t status, void* arg);
    static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                            void* arg);

    [[nodiscard]] ucs_status_ptr_t post_send(const slot& with, const ucp_request_param_t& param);
    void finish(ucs_status_ptr_t request, const char* what);
    slot& take_send_slot();
    slot& take(std::vector<slot*>& from);
    void give_back(std::vector<slot*>& to, slot& done);
    void check(const char* what, ucs_status_t status);
    void verify(const slot& of, const ucp_tag_recv_info_t& info);
    void wait_for_arrival();
    void throw_if_failed() {
        if (failed_.load(std::memory_order_acquire)) [[unlikely]] {
            throw_failure();
        }
    }
    [[noreturn]] void throw_failure() const;
    void fail(std::string message);

    const connection on_;
    const tag_channel_setup setup_;
    progress_loop loop_;
    const ucp_tag_t tag_;
    const ucp_tag_t ack_tag_;
    const ucp_tag_t mask_;
    const bool validate_;
    message_memory send_memory_;
    message_memory recv_memory_;
    std::vector<slot> send_slots_;
    std::vector<slot> recv_slots_;
    std::mutex guard_;               // of the two lists and failure_
    std::vector<slot*> free_sends_;  // used with validation only
    std::vector<slot*> free_receives_;
    ucp_request_param_t send_param_{};
    ucp_request_param_t recv_param_{};
    in_flight sends_;
    in_flight receives_;
    std::uint64_t next_send_ = 0;
    std::uint64_t next_receive_ = 0;
    std::atomic<bool> failed_{false};
    std::string failure_;  // the first error; unchanged once failed_ is set
};

}  // namespace tools::perf
