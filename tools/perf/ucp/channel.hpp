// Base of the classes that send and receive the messages of a test, one class for each family of
// UCP functions (tag, active message, stream).
#pragma once

#include "tools/perf/core/workload.hpp"
#include "tools/perf/ucp/message_memory.hpp"
#include "tools/perf/ucp/progress_loop.hpp"

namespace tools::perf {

// Sends and receives the numbered messages of one thread: counts messages in flight, owns their
// memory, checks their contents, and keeps the first error. Each family derives a final class that
// calls its functions, so the virtual functions below cost nothing in the measured loop.
//
// Owned by a workload, used by one thread; its callbacks run on any thread that progresses the
// worker. Without validation all messages of a direction share one buffer; with validation each
// message in flight has its own.
class ucp_channel {
public:
    ucp_channel(const ucp_channel&) = delete;
    ucp_channel& operator=(const ucp_channel&) = delete;

    // Starts to send the next message. The caller must first wait until at most window - 1 messages
    // are in flight.
    void send() {
        slot& message = take_send_slot();
        send_param_.user_data = &message;
        sends_.started();
        ucs_status_ptr_t request = post_send(message, send_param_);
        if (UCS_PTR_IS_PTR(request)) return;
        check("send", UCS_PTR_STATUS(request));
        if (validate_) give_back(free_sends_, message);
        sends_.ended_at_once();
        throw_if_failed();
    }

    // Starts to receive the next message.
    virtual void receive() = 0;

    // Progresses until at most `left` sends, or receives, are in flight.
    void wait_sends(unsigned left) {
        if (sends_.count() > left) {
            loop_.until([&] { return sends_.count() <= left; });
        }
        throw_if_failed();
    }
    virtual void wait_receives(unsigned left) {
        if (receives_.count() > left) {
            loop_.until([&] { return receives_.count() <= left; });
        }
        throw_if_failed();
    }

    // Sends and receives one more message, and returns the library's description of the send.
    std::string describe_send();

protected:
    // A message in flight. `index` selects its buffer. Without validation one slot serves all
    // messages of a direction.
    struct slot {
        ucp_channel* owner = nullptr;
        std::size_t index = 0;
        std::uint64_t number = 0;
    };

    // `window` is the largest number of messages in flight in each direction. `stream`
    // distinguishes the contents of channels between the same two processes.
    ucp_channel(const connection& conn, unsigned window, std::uint32_t stream);
    ~ucp_channel() = default;

    [[nodiscard]] virtual ucs_status_ptr_t post_send(const slot& message,
                                                     const ucp_request_param_t& param) = 0;

    [[nodiscard]] unsigned sends_in_flight() const noexcept { return sends_.count(); }
    [[nodiscard]] bool validates() const noexcept { return validate_; }
    // Return the content of the message `number` that this side sends, and that it expects.
    [[nodiscard]] pattern outgoing(std::uint64_t number) const noexcept {
        return {outgoing_stream_, number};
    }
    [[nodiscard]] pattern incoming(std::uint64_t number) const noexcept {
        return {incoming_stream_, number};
    }

    slot& take_receive_slot() {
        return validate_ ? take_numbered_receive_slot() : recv_slots_.front();
    }
    // Returns whether take_receive_slot() may be called. Only channels whose slots are taken by
    // arriving messages, and not by receive(), need to check that.
    [[nodiscard]] bool has_receive_slot() {
        if (!validate_) return true;
        const std::lock_guard held(guard_);
        return !free_receives_.empty();
    }
    // Records the end of a receive with `length` bytes. `by_callback` is false if the receive ended
    // within the call that posted it.
    void receive_ended(slot& done, ucs_status_t status, std::size_t length, bool by_callback);

    // Waits for the end of an operation that is not a numbered message, such as an acknowledgement.
    void finish(ucs_status_ptr_t request, const char* operation);

    // Records the first error; the owner's thread throws it.
    void fail(std::string message);
    [[nodiscard]] bool has_expected_length(std::uint64_t number, std::size_t length);
    void fail_mismatch(std::uint64_t number, std::size_t offset, const pattern& expected);
    void check(const char* operation, ucs_status_t status) {
        if (status != UCS_OK) [[unlikely]] {
            fail_status(operation, status);
        }
    }
    void throw_if_failed() {
        if (failed_.load(std::memory_order_acquire)) [[unlikely]] {
            throw_failure();
        }
    }

    const connection conn_;
    progress_loop loop_;
    message_memory send_memory_;
    message_memory recv_memory_;
    ucp_request_param_t send_param_{};
    ucp_request_param_t recv_param_{};  // the derived class sets its callback
    in_flight receives_;

private:
    static void on_sent(void* request, ucs_status_t status, void* arg);

    slot& take_send_slot() { return validate_ ? take_filled_send_slot() : send_slots_.front(); }
    slot& take_filled_send_slot();
    slot& take_numbered_receive_slot();
    slot& take(std::vector<slot*>& from);
    void give_back(std::vector<slot*>& to, slot& done);
    void verify(const slot& received, std::size_t length);
    void fail_status(const char* operation, ucs_status_t status);
    [[noreturn]] void throw_failure() const;

    const bool validate_;
    const std::uint32_t outgoing_stream_;
    const std::uint32_t incoming_stream_;
    std::vector<slot> send_slots_;
    std::vector<slot> recv_slots_;
    std::mutex guard_;               // guards the two lists and failure_
    std::vector<slot*> free_sends_;  // used with validation only
    std::vector<slot*> free_receives_;
    in_flight sends_;
    std::uint64_t next_send_ = 0;
    std::uint64_t next_receive_ = 0;
    std::atomic<bool> failed_{false};
    std::string failure_;  // the first error; unchanged once failed_ is set
};

}  // namespace tools::perf
