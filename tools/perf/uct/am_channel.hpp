// Sends and receives the numbered messages of a transport test as active messages.
#pragma once

#include <string>
#include <vector>

#include "tools/perf/core/in_flight.hpp"
#include "tools/perf/uct/connection.hpp"

namespace tools::perf {

// One thread. -H bytes of a message are its header, all others its payload. With flow control the
// receiver tells after half a window (-W) how much it has, and the sender is never further ahead
// than a window: a receiver that is slow shall not have to store messages.
class transport_am_channel {
public:
    enum class flow : std::uint8_t { free, controlled };

    transport_am_channel(const transport_connection& on, unsigned window, flow control);
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

    // Tells the sender of all that came.
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

    ucs_status_t post(slot& with, std::span<std::byte> message);
    bool tell_what_came();
    void verify(std::span<const std::byte> message);
    void throw_if_wrong() const;

    template<class Done>
    void until(Done&& done) {
        on_.over.until([&] {
            if (received_ - told_ >= tell_after_) tell_what_came();
            return done();
        });
        if (!wrong_.empty()) [[unlikely]] {
            throw_if_wrong();
        }
    }

    const transport_connection on_;
    const send_operation operation_;
    const bool validate_;
    const std::size_t size_;
    const std::size_t header_;
    const std::uint64_t credits_;     // most messages that the receiver has not told of
    const std::uint64_t tell_after_;  // messages
    std::vector<slot> slots_;
    std::vector<std::byte> memory_;  // of a message, or of each slot with validation
    in_flight sends_;
    in_flight receives_;
    std::uint64_t sent_ = 0;
    std::uint64_t acknowledged_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t told_ = 0;
    std::string wrong_;
};

}  // namespace tools::perf
