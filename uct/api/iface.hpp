// A transport opened on a device by one worker.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ucs/async/event_loop.hpp"
#include "ucs/config/source.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/memory/memory_type.h"
#include "ucs/type/result.hpp"
#include "uct/api/ep.hpp"
#include "uct/api/peer_bytes.hpp"

namespace ucs::security {
class key;
}

namespace uct {

// How far an interface reaches, from near to far.
enum class scope : std::uint8_t { process, host, network };

// Cost of one call of progress without events: memory loads or a system call. Workers poll the
// second kind less often while the first kind is in use.
enum class poll_cost : std::uint8_t { memory, system_call };

// A set of kinds of memory, a bit for each ucs_memory_type_t.
struct memory_kinds {
    std::uint32_t bits = 1U << UCS_MEMORY_TYPE_HOST;
    [[nodiscard]] constexpr bool has(ucs_memory_type_t kind) const noexcept {
        return (bits >> static_cast<unsigned>(kind) & 1U) != 0;
    }
    constexpr void add(ucs_memory_type_t kind) noexcept {
        bits |= 1U << static_cast<unsigned>(kind);
    }
    constexpr void remove(ucs_memory_type_t kind) noexcept {
        bits &= ~(1U << static_cast<unsigned>(kind));
    }
};

// Bandwidth of copies by the kinds of memory. 0: iface_attr::bandwidth applies.
struct copy_rates {
    double host_to_device = 0;
    double device_to_host = 0;
    double device_to_device = 0;
};

// Attributes of an interface, fixed while it is open. Sizes in bytes, times in seconds, bandwidth
// in bytes per second.
struct iface_attr {
    op_mask ops;
    atomic_support atomics;             // of ep::atomic
    std::size_t max_short = 0;          // payload of am_short, without the 8-byte header
    std::size_t max_bcopy = 0;          // whole message of am_bcopy
    std::size_t max_zcopy = 0;          // header and payload of am_zcopy
    std::size_t max_zcopy_header = 0;   // header of am_zcopy
    std::size_t max_iov = 0;            // pieces of any zcopy
    std::size_t max_rma = 0;            // one get_zcopy or put_zcopy
    std::size_t max_put_short = 0;      // one put_short
    std::size_t max_put_bcopy = 0;      // one put_bcopy
    std::size_t max_get_bcopy = 0;      // one get_bcopy
    std::size_t address_length = 0;     // what pack_address writes
    std::size_t connection_length = 0;  // what ep::pack_connection writes; 0: nothing to exchange
    double latency = 0;                 // one way, small message
    double bandwidth = 0;               // large messages
    double overhead = 0;                // processor time per message
    copy_rates rates;                   // large copies of accelerators
    memory_kinds local_memory;          // pieces of get_zcopy and put_zcopy, and short buffers
    memory_kinds remote_memory;         // places of get and put
    // With more endpoints the device is slower.
    std::size_t connections_at_hand = std::numeric_limits<std::size_t>::max();
    scope reach = scope::host;
    poll_cost cost = poll_cost::memory;
    bool ends_in_progress = false;      // carries no messages, but its progress ends operations
    bool keyed = false;                 // reaches remote memory only as remote_memory of domain()
    bool atomics_of_processor = false;  // see ep::atomic
    bool supports_landing = false;      // receives by am_handler::locate
    bool needs_check = false;           // its owner must call ep::check
    bool claims_process = false;        // its endpoints need ep::bind_to
    bool shows_processes = false;       // has iface::sender_process
    bool uses_descriptor = false;       // an endpoint keeps a descriptor open while it is connected

    // Returns true if the interface reaches memory of devices, and no other.
    [[nodiscard]] bool reaches_only_devices() const noexcept {
        return remote_memory.has(UCS_MEMORY_TYPE_CUDA) && !remote_memory.has(UCS_MEMORY_TYPE_HOST);
    }
    // Returns false if the interface only copies within its process.
    [[nodiscard]] bool reaches_peers() const noexcept {
        return reach != scope::process || ops.has(op::am_short);
    }
};

// Receives active messages of one id. Called from progress of the owner. Handlers may send, may
// destroy endpoints, must not call progress, and must not throw: the transport has not yet taken
// the message out of its ring or stream.
struct am_handler {
    // Delivers a whole message; `data` is valid during the call only. Aligned to 8 bytes.
    void (*deliver)(void* arg, void* data, std::size_t length) = nullptr;

    // Stream transports (attr().supports_landing) call `locate` for the destination of a message
    // after its first `landing_header` bytes, so that it is received in place. It is called before
    // each read of a piece, always with the whole header. It returns the address for payload byte
    // 0, or nullptr. On the first call nullptr means "deliver it normally", later "drop the rest".
    // `landed` replaces `deliver` for a message that was received in place.
    std::size_t landing_header = 0;
    void* (*locate)(void* arg, const void* header, std::size_t payload_length) = nullptr;
    void (*landed)(void* arg, const void* header, std::size_t payload_length) = nullptr;

    void* arg = nullptr;
};

// Called once per failed endpoint, from progress. The handler may destroy the endpoint, and must
// not throw.
struct error_handler {
    void (*failed)(void* arg, ep& failed_ep, ucs_status_t status) = nullptr;
    void* arg = nullptr;
};

// Parameters of opening an interface. The references outlive the interface.
struct iface_params {
    ucs::async::event_loop& events;          // polled by the owner now and then; for slow things
    const ucs::config::source& config;       // option texts
    std::uint64_t worker_uid = 0;            // identity of the worker, random, never 0
    ucs::log::throttle* rejected = nullptr;  // for errors of peers; null: the interface's own
    bool sleeps = false;  // the worker may sleep, so peers must know that they have to wake it
    // The key of the job: the peer of every network connection must prove that it knows it. Null if
    // there is none.
    const ucs::security::key* job_key = nullptr;
    // A domain of the same component and device. Null: the interface opens its own if it needs one.
    std::shared_ptr<memory_domain> domain = nullptr;
};

// Result of check_reachable: an empty `reason` means reachable.
struct reachability {
    std::string reason;
    [[nodiscard]] bool ok() const noexcept { return reason.empty(); }
};

// Receives for one worker and creates endpoints. Owned by the worker. Owner context.
class iface : public ucs::vfs::object {
public:
    virtual ~iface() = default;

    [[nodiscard]] virtual const iface_attr& attr() const noexcept = 0;

    // Receives messages and completes operations; returns the number of events. Never blocks, never
    // throws: if memory is short, the endpoint or connection fails.
    virtual unsigned progress() = 0;

    // Returns true if progress would find work, as far as memory loads tell. Descriptors of the
    // event loop are not checked.
    [[nodiscard]] virtual bool has_work() const noexcept = 0;

    // Must be called before the worker sleeps on the descriptor of the event loop; requires
    // iface_params::sleeps. UCS_OK: progress has nothing to do now, and when it has, the descriptor
    // becomes readable, once; then call it again. This includes work that the owner itself starts
    // meanwhile, but not descriptors that are readable already. UCS_ERR_BUSY: call progress first.
    // UCS_ERR_UNSUPPORTED: the interface cannot wake a sleeping worker.
    [[nodiscard]] virtual ucs_status_t arm() noexcept = 0;

    // Writes attr().address_length bytes by which peers find this interface.
    virtual void pack_address(std::span<std::byte> into) const = 0;

    // Tells whether this interface can reach the one with that address. Addresses are untrusted:
    // malformed ones are unreachable, with a reason. Pure, no side effect on the peer.
    [[nodiscard]] virtual reachability check_reachable(
        std::span<const std::byte> address) const = 0;

    // May throw std::bad_alloc, like opening and queries; the other functions do not throw.
    virtual ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) = 0;

    // The domain of the memory that peers access over this interface. nullptr: they access it by
    // its address, or not at all. Lives as long as the interface.
    [[nodiscard]] virtual memory_domain* domain() noexcept { return nullptr; }

    // Returns the living process that sent a message which is being delivered, as the kernel
    // reports it. Returns none if the message is not of this interface, or the transport cannot
    // tell.
    [[nodiscard]] virtual ucs::sys::process_identity sender_process(
        const peer_bytes&) const noexcept {
        return {};
    }

    // Returns the number of the connection over which a message came that is being delivered;
    // `message` is the message or a part of it. No other connection of this process ever has that
    // number. Returns 0 if the message is not of this interface, or the worker has sent it itself.
    [[nodiscard]] virtual std::uint64_t connection_of(const peer_bytes& message) const noexcept {
        static_cast<void>(message);
        return 0;
    }
    // Ends a connection whose sender violates the protocol. The sender's endpoint fails, and an
    // endpoint of this interface that uses the same connection fails with the status. Messages that
    // the interface has not delivered are lost; a device may still deliver some that it has
    // received. Returns false if the connection is not of this interface, or is gone. Not within
    // progress.
    virtual bool end_connection(std::uint64_t number, ucs_status_t status) noexcept {
        static_cast<void>(number);
        static_cast<void>(status);
        return false;
    }
    // Appends the number of each live connection: a peer may still send messages over it, or has
    // sent some that this interface delivers later. A number that connection_of has returned and
    // that is missing never appears again, except for messages in flight within a device. Every
    // interface that implements connection_of must implement this: messages of connections that are
    // missing here may be dropped. May throw std::bad_alloc. Not within progress.
    virtual void append_connections(std::vector<std::uint64_t>& into) const {
        static_cast<void>(into);
    }

    virtual void set_am_handler(am_id id, const am_handler& handler) = 0;
    virtual void set_error_handler(const error_handler& handler) = 0;
};

}  // namespace uct
