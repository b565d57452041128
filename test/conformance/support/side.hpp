// One worker of a conformance test: its event loop, its interface and its received messages.
#pragma once

#include <map>
#include <optional>

#include "test/conformance/support/environment.hpp"
#include "test/conformance/support/message.hpp"
#include "ucs/security/key.hpp"

namespace conformance {

struct received {
    uct::am_id id = 0;
    bytes data;
    bool aligned = true;  // to 8 bytes; a landed message has the alignment that the test chose
    bool landed = false;
    std::uint64_t connection = 0;  // of a message that did not land, see uct::iface::connection_of
};

struct failure {
    uct::ep* which;
    ucs_status_t status;
};

// Opens an interface and records its messages and failures. Created by `network`.
class side {
public:
    side(environment& where, std::uint64_t worker_uid);
    ~side();
    side(const side&) = delete;
    side& operator=(const side&) = delete;

    unsigned progress();
    // Handles events of the device, the system and timers, without progress of the interface.
    unsigned poll_events() { return events_->poll(0); }
    // Prepares for sleep as a worker does: UCS_OK, UCS_ERR_BUSY or UCS_ERR_UNSUPPORTED.
    [[nodiscard]] ucs_status_t arm();
    // Sleeps until woken. Returns false if nothing happened within `timeout_ms`.
    [[nodiscard]] bool sleep(int timeout_ms) const;
    [[nodiscard]] uct::iface& iface() { return *iface_; }
    [[nodiscard]] const uct::iface_attr& attr() { return iface_->attr(); }
    [[nodiscard]] bytes address() const;
    // If endpoints are paired, the other side's endpoint is created, too, and stays as long as that
    // side.
    [[nodiscard]] std::unique_ptr<uct::ep> connect(side& to);
    // The endpoint that was created last as the partner of another side's.
    [[nodiscard]] uct::ep& newest_partner() { return *others_.back(); }

    // Closes the interface while the rest stays.
    void close() {
        others_.clear();
        iface_.reset();
    }

    // Records messages of this id (all sides do for the ids below `recorded_ids`).
    void record(uct::am_id id);

    // Messages of a stream in the inbox.
    [[nodiscard]] std::size_t count(std::uint32_t stream) const;

    std::vector<received> inbox;
    std::vector<failure> failures;
    // Called for every message, after it was recorded, if set.
    std::function<void(const received&)> on_message;
    std::function<void(const failure&)> on_failure;

    static constexpr uct::am_id recorded_ids = 4;

private:
    struct slot {
        side* owner;
        uct::am_id id;
    };
    void take(received&& message);
    static void deliver(void* arg, void* data, std::size_t length);
    static void* locate(void* arg, const void* header, std::size_t payload_length);
    static void landed(void* arg, const void* header, std::size_t payload_length);

    const bool landing_;
    std::unique_ptr<ucs::async::event_loop> events_;
    const ucs::config::source config_;
    std::optional<ucs::security::key> job_key_;
    std::map<uct::am_id, slot> slots_;
    std::map<std::uint64_t, bytes> landing_now_;  // by the first 8 bytes of the message
    std::unique_ptr<uct::iface> iface_;
    std::vector<std::unique_ptr<uct::ep>>
        others_;  // partners of peers' endpoints, until these are destroyed
};

}  // namespace conformance
