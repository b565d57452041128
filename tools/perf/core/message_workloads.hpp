// Tests of numbered messages: ping-pong, and a stream in one direction. They are independent of the
// functions that carry the messages.
#pragma once

#include <concepts>
#include <utility>

#include "tools/perf/core/workload.hpp"

namespace tools::perf {

inline constexpr unsigned latency_window = 1;
inline constexpr unsigned bandwidth_window = 32;

// Returns the most messages in flight: -O, or the test's default.
[[nodiscard]] inline unsigned window_of(const test_params& params, unsigned usual) noexcept {
    return params.outstanding == 0 ? usual : params.outstanding;
}

// The carrier of one thread's messages. It is a template parameter, so that the measured loops have
// no indirect calls.
template<class T>
concept message_channel = requires(T channel, unsigned left) {
    channel.send();               // starts the next message
    channel.receive();            // expects the next message
    channel.wait_sends(left);     // until at most `left` are in flight
    channel.wait_receives(left);  // likewise
    channel.acknowledge();        // sends one message in the opposite direction, not numbered
    channel.wait_acknowledgement();
    { channel.describe_send() } -> std::same_as<std::string>;
};

// Ping-pong. An iteration is a round trip.
template<message_channel Channel>
class ping_pong final : public workload {
public:
    template<class... Args>
    ping_pong(side part, unsigned window, Args&&... args)
        : part_(part), window_(window), channel_(std::forward<Args>(args)...) {}

    void run(std::uint64_t iterations, meter* times) override {
        if (part_ == side::responder) {
            respond(iterations);
        } else {
            initiate(iterations, times);
        }
        channel_.wait_sends(0);
    }

    std::string describe_operation() override { return channel_.describe_send(); }

private:
    void initiate(std::uint64_t iterations, meter* times) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_sends(window_ - 1);
            channel_.send();
            channel_.receive();
            channel_.wait_receives(0);
            if (times != nullptr) times->step();
        }
    }

    void respond(std::uint64_t iterations) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.receive();
            channel_.wait_receives(0);
            channel_.wait_sends(window_ - 1);
            channel_.send();
        }
    }

    const side part_;
    const unsigned window_;
    Channel channel_;
};

// A stream in one direction, with several messages in flight. The run ends when the receiver has
// all messages.
template<message_channel Channel>
class one_way final : public workload {
public:
    template<class... Args>
    one_way(side part, unsigned window, Args&&... args)
        : part_(part), window_(window), channel_(std::forward<Args>(args)...) {}

    void run(std::uint64_t iterations, meter* times) override {
        switch (part_) {
            case side::initiator:
                send_all(iterations, times);
                return channel_.wait_acknowledgement();
            case side::responder:
                receive_all(iterations);
                return channel_.acknowledge();
            case side::both:
                return exchange(iterations, times);
        }
    }

    std::string describe_operation() override { return channel_.describe_send(); }

private:
    void send_all(std::uint64_t iterations, meter* times) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_sends(window_ - 1);
            channel_.send();
            if (times != nullptr) times->step();
        }
        channel_.wait_sends(0);
    }

    void receive_all(std::uint64_t iterations) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_receives(window_ - 1);
            channel_.receive();
        }
        channel_.wait_receives(0);
    }

    void exchange(std::uint64_t iterations, meter* times) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_sends(window_ - 1);
            channel_.send();
            channel_.wait_receives(window_ - 1);
            channel_.receive();
            if (times != nullptr) times->step();
        }
        channel_.wait_sends(0);
        channel_.wait_receives(0);
    }

    const side part_;
    const unsigned window_;
    Channel channel_;
};

// Make the two workloads over a channel that is constructed from the connection, the window and
// `more`.
template<message_channel Channel, auto... more>
std::unique_ptr<workload> make_ping_pong(const auto& conn) {
    const unsigned window = window_of(conn.params, latency_window);
    return std::make_unique<ping_pong<Channel>>(conn.part, window, conn, window, more...);
}

template<message_channel Channel, auto... more>
std::unique_ptr<workload> make_one_way(const auto& conn) {
    const unsigned window = window_of(conn.params, bandwidth_window);
    return std::make_unique<one_way<Channel>>(conn.part, window, conn, window, more...);
}

}  // namespace tools::perf
