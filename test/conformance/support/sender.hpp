// Helper that sends whole messages with any active message operation.
#pragma once

#include <catch2/catch.hpp>

#include "test/conformance/support/network.hpp"

namespace conformance {

inline constexpr std::size_t header_size = sizeof(std::uint64_t);

// A completion that counts its calls.
struct counted : uct::completion {
    unsigned calls = 0;
    ucs_status_t result = UCS_INPROGRESS;
    counted() : completion{.done = note} {}
    static void note(completion& c) {
        auto& self = static_cast<counted&>(c);
        ++self.calls;
        self.result = self.status;
    }
};

// The active message operations of an interface, in the order short, bcopy, zcopy.
[[nodiscard]] std::vector<uct::op> message_ops(const uct::iface_attr& attr);

// Bytes of the shortest and the longest message that `operation` can carry in this suite: 8 bytes
// of header are part of every message.
struct length_range {
    std::size_t min;
    std::size_t max;
};
[[nodiscard]] length_range lengths(const uct::iface_attr& attr, uct::op operation);

// A message and its buffer. The buffer is overwritten when the transport has returned it.
class outgoing {
public:
    outgoing(uct::op operation, uct::am_id id, bytes message)
        : which_(operation), id_(id), message_(std::move(message)) {}
    outgoing(const outgoing&) = delete;
    outgoing& operator=(const outgoing&) = delete;

    // Makes one attempt. UCS_OK: the message is posted, see `ended`.
    ucs_status_t post(uct::ep& via, const uct::iface_attr& limits);

    // The transport does not need the buffer any more.
    [[nodiscard]] bool ended() const noexcept { return !in_flight_ || done_.calls > 0; }
    [[nodiscard]] unsigned calls() const noexcept { return done_.calls; }
    [[nodiscard]] ucs_status_t result() const noexcept { return done_.result; }
    [[nodiscard]] bool was_in_flight() const noexcept { return in_flight_; }

private:
    void spoil() noexcept;

    const uct::op which_;
    const uct::am_id id_;
    bytes message_;
    bool in_flight_ = false;
    counted done_;
};

// Keeps the messages of a case alive until they have ended, and posts them with progress in
// between.
class sender {
public:
    explicit sender(network& net) : net_(net) {}

    // Posts a message, waiting for resources up to a limit. Returns false for a status other than
    // UCS_OK and UCS_ERR_NO_RESOURCE, or if the limit was reached.
    bool send(side& from, uct::ep& via, uct::op operation, uct::am_id id, const bytes& message);
    // The same without waiting: returns the status of one attempt.
    ucs_status_t try_send(side& from, uct::ep& via, uct::op operation, uct::am_id id,
                          const bytes& message);

    [[nodiscard]] bool all_ended() const;
    [[nodiscard]] ucs_status_t last_status() const noexcept { return last_; }
    // Returns true if each promised completion was called exactly once.
    [[nodiscard]] bool each_called_once() const;

private:
    network& net_;
    std::vector<std::unique_ptr<outgoing>> messages_;
    ucs_status_t last_ = UCS_OK;
};

// Calls `start()` until there is room, and returns its status.
template<class Start>
ucs_status_t retry(network& net, Start&& start) {
    ucs_status_t status = UCS_OK;
    const bool over = net.run_until([&] { return (status = start()) != UCS_ERR_NO_RESOURCE; });
    return over ? status : UCS_ERR_TIMED_OUT;
}

// Waits for the end of an operation whose call has returned `started`, and returns its result.
inline ucs_status_t wait_for(network& net, ucs_status_t started, const counted& done) {
    if (started != UCS_INPROGRESS) return started;
    return net.run_until([&] { return done.calls == 1; }) ? done.result : UCS_ERR_TIMED_OUT;
}

// Calls `start(completion)` until there is room, and waits for its success.
template<class Start>
void finish(network& net, Start&& start) {
    counted done;
    const ucs_status_t started = retry(net, [&] { return start(&done); });
    REQUIRE(wait_for(net, started, done) == UCS_OK);
}

}  // namespace conformance
