// Sends and receives the numbered messages of a transport test as active messages.
#pragma once

#include "tools/perf/core/pattern.hpp"
#include "tools/perf/core/workload.hpp"
#include "tools/perf/uct/link.hpp"

namespace tools::perf {

// Not owned; outlives the workload. `exposed` is this side's memory that the peer may access.
struct transport_connection {
    transport_link& link;
    const test_params& params;
    side part;
    std::span<std::byte> exposed;
};

// The content of memory that a test writes or reads, depending on its writer.
[[nodiscard]] inline pattern memory_content(side writer) noexcept {
    return {writer == side::responder ? 1U : 0U, 0};
}

// One thread. The first -H bytes of a message are its header, the others its payload. With flow
// control the receiver acknowledges after half a window (-W), and the sender is never more than a
// window ahead, so that a slow receiver need not store messages.
class transport_am_channel {
public:
    enum class flow : std::uint8_t { free, controlled };

    transport_am_channel(const transport_connection& conn, unsigned window, flow control);
    ~transport_am_channel();
    transport_am_channel(const transport_am_channel&) = delete;
    transport_am_channel& operator=(const transport_am_channel&) = delete;

    void send();
    void receive() noexcept { receives_.started(); }
    void wait_sends(unsigned left) {
        until([&] { return sends_.count() <= left; });
    }
    void wait_receives(unsigned left) {
        until([&] { return receives_.count() <= left; });
    }

    // Acknowledges all received messages.
    void acknowledge();
    void wait_acknowledgement() {
        until([&] { return acknowledged_ == sent_; });
    }

    std::string describe_send();

private:
    // A message in flight whose memory the transport reads (zcopy).
    struct slot : uct::completion {
        transport_am_channel* owner = nullptr;
    };

    static void on_message(void* arg, void* data, std::size_t length);
    static void on_acknowledgement(void* arg, void* data, std::size_t length);
    static void on_sent(uct::completion& self);
    static std::size_t pack(void* arg, void* into, std::size_t capacity);

    ucs_status_t post(slot& message_slot, std::span<std::byte> message);
    bool send_acknowledgement();
    void verify(std::span<const std::byte> message);
    void throw_validation_error() const;

    template<class Done>
    void until(Done&& done) {
        conn_.link.until([&] {
            if (received_ - reported_ >= report_after_) send_acknowledgement();
            return done();
        });
        if (!error_.empty()) [[unlikely]] {
            throw_validation_error();
        }
    }

    const transport_connection conn_;
    const send_operation operation_;
    const bool validate_;
    const std::size_t size_;
    const std::size_t header_;
    const std::uint64_t credits_;       // the most messages without acknowledgement
    const std::uint64_t report_after_;  // messages
    std::vector<slot> slots_;
    std::vector<std::byte> memory_;  // one message, or with validation one for each slot
    in_flight sends_;
    in_flight receives_;
    std::uint64_t sent_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t reported_ = 0;
    std::string error_;
};

}  // namespace tools::perf
