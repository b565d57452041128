// Sending whole messages by any of the active message operations.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "test/conformance/support/network.hpp"

namespace conformance {

inline constexpr std::size_t header_size = sizeof(std::uint64_t);

// A completion that counts how often it was told.
struct counted : uct::completion {
    unsigned told = 0;
    ucs_status_t result = UCS_INPROGRESS;
    counted() : completion{.done = note} {}
    static void note(completion& c) {
        auto& self = static_cast<counted&>(c);
        ++self.told;
        self.result = self.status;
    }
};

// The active message operations of an interface, in the order short, bcopy, zcopy.
[[nodiscard]] std::vector<uct::op> message_ops(const uct::iface_attr& attr);

// Bytes of the shortest and the longest message that `which` can carry in this suite: 8 bytes of
// header are part of every message.
struct length_range {
    std::size_t min;
    std::size_t max;
};
[[nodiscard]] length_range lengths(const uct::iface_attr& attr, uct::op which);

// A message and its buffer; the buffer is overwritten once the transport gave it back.
class outgoing {
public:
    outgoing(uct::op which, uct::am_id id, bytes message)
        : which_(which), id_(id), message_(std::move(message)) {}
    outgoing(const outgoing&) = delete;
    outgoing& operator=(const outgoing&) = delete;

    // One attempt. UCS_OK: the message is under way, see `ended`.
    ucs_status_t post(uct::ep& via, const uct::iface_attr& limits);

    // The transport does not need the buffer any more.
    [[nodiscard]] bool ended() const noexcept { return !in_flight_ || done_.told > 0; }
    [[nodiscard]] unsigned told() const noexcept { return done_.told; }
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

// Keeps messages of a case alive until they ended, and posts them with progress in between.
class sender {
public:
    explicit sender(network& net) : net_(net) {}

    // Posts a message, waiting for resources as long as it takes (bounded); false with a status
    // other than UCS_OK and UCS_ERR_NO_RESOURCE, or when the bound was hit.
    bool send(side& from, uct::ep& via, uct::op which, uct::am_id id, const bytes& message);
    // The same without waiting: the status of the one attempt.
    ucs_status_t try_send(side& from, uct::ep& via, uct::op which, uct::am_id id,
                          const bytes& message);

    [[nodiscard]] bool all_ended() const;
    [[nodiscard]] ucs_status_t last_status() const noexcept { return last_; }
    // Every completion that was promised was told once and never twice.
    [[nodiscard]] bool each_told_once() const;

private:
    network& net_;
    std::vector<std::unique_ptr<outgoing>> messages_;
    ucs_status_t last_ = UCS_OK;
};

// Begins with `start(completion)`, as often as there is no room, and waits for the good end.
template<class Start>
void finish(network& net, Start&& start) {
    counted done;
    ucs_status_t status = UCS_OK;
    REQUIRE(net.run_until([&] { return (status = start(&done)) != UCS_ERR_NO_RESOURCE; }));
    if (status == UCS_INPROGRESS) {
        REQUIRE(net.run_until([&] { return done.told == 1; }));
        status = done.result;
    }
    REQUIRE(status == UCS_OK);
}

}  // namespace conformance
