// One direction to one remote interface.
#pragma once

#include <string>

#include "ucs/sys/process.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/api/atomic.hpp"
#include "uct/api/memory.hpp"
#include "uct/api/types.hpp"

namespace uct {

// Sends to one peer interface. Created by iface::create_ep, owned by the protocol layer, destroyed
// before its interface. Owner context. Creation does not wait for the peer: until the connection is
// established, operations return UCS_ERR_NO_RESOURCE or are queued by the transport.
//
// Ordering: active messages of one endpoint arrive in the order of the successful calls, and those
// of a transport whose memory is accessed by keys after the data of earlier puts. Remote memory
// operations are not ordered with other operations otherwise.
//
// Back-pressure: UCS_ERR_NO_RESOURCE means that nothing was sent; queue the send with pending_add.
// While requests are queued, each new active message is refused with UCS_ERR_NO_RESOURCE (unless it
// comes from a queued request's own progress), so order is kept.
//
// Shortage of memory: no operation throws. It returns UCS_ERR_NO_MEMORY, and if the endpoint cannot
// continue, it fails with that status.
//
// Failure: an endpoint that failed returns its error from every operation. Each operation in
// flight ends with the error, then the interface's error handler is called once, from progress.
//
// Destruction: active messages that were accepted still arrive, unless the endpoint failed or the
// peer sees a failure. Operations in flight end with UCS_ERR_CANCELED before the destructor
// returns, so their memory is the caller's again. Queued requests are purged before.
class ep : public ucs::vfs::object {
public:
    virtual ~ep() = default;

    // If attr().connection_length is not 0, endpoints are paired: one on each side, made for each
    // other. Both are created first; then each is given the other's connection data, which is
    // untrusted, over any other transport. Messages may be sent from then on. They wait until the
    // other side is connected, too, which must not take longer than a few retransmissions.
    virtual void pack_connection(std::span<std::byte>) const {}
    // Returns UCS_ERR_INVALID_ADDR if the data is malformed; other errors end the endpoint. Errors
    // are logged.
    virtual ucs_status_t connect_to(std::span<const std::byte>) { return UCS_ERR_UNSUPPORTED; }

    // Counts of sent operations since the creation, and of waiting ones, for diagnostics.
    struct traffic {
        std::uint64_t operations = 0;  // messages, reads and writes that were accepted
        std::uint64_t bytes = 0;       // of them, with the headers of the layer above
        std::size_t queued = 0;        // requests that wait for resources, behind one that runs
    };
    [[nodiscard]] virtual traffic sent() const noexcept { return {}; }

    // Sends the header (8 bytes) and the payload, at most attr().max_short bytes of payload. The
    // buffers may be reused on return. Returns UCS_OK, UCS_ERR_NO_RESOURCE or the endpoint's error.
    virtual ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                                  std::size_t length);

    // Lets `pack` write the message into the transport's buffer of at least attr().max_bcopy
    // bytes, which must hold a connection message (40 bytes and the worker's address, up to 1,064
    // in all). Returns the packed length (>= 0) or a status (< 0). `pack` runs at most once and
    // only when the message will be sent.
    virtual ssize_t am_bcopy(am_id id, pack_function pack, void* arg);

    // Sends `header` and then the pieces of `payload` without a copy. The header may be reused on
    // return. The payload may be reused when the call has returned UCS_OK, or, after
    // UCS_INPROGRESS, when `done` was called. The receiver sees one contiguous message. Also
    // returns UCS_ERR_NO_MEMORY or UCS_ERR_INVALID_ADDR if a device cannot access the payload's
    // memory; then nothing was sent. The same holds for get_zcopy and put_zcopy.
    virtual ucs_status_t am_zcopy(am_id id, std::span<const std::byte> header,
                                  std::span<const iov> payload, completion* done);

    // Reads remote memory into the pieces. Returns UCS_OK, UCS_INPROGRESS (then `done` is called),
    // UCS_ERR_UNSUPPORTED if the system refuses access to this peer (the caller falls back to
    // copying), or another error.
    virtual ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                                   completion* done);

    // Writes the pieces to remote memory. Statuses as get_zcopy.
    virtual ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                                   completion* done);

    // Writes all pieces, and then sends a message of at most `max_notification` bytes, which
    // arrives after the data. Both are one request to the device, so `done` is called when both
    // have been sent. Returns UCS_INPROGRESS; with any other status neither happened.
    // UCS_ERR_UNSUPPORTED: the transport cannot do this, or not with so much data; then use
    // put_zcopy, and send a message when that has ended.
    static constexpr std::size_t max_notification = 32;
    virtual ucs_status_t put_zcopy_and_notify(std::span<const iov>, const remote_place&, am_id,
                                              std::span<const std::byte>, completion*) {
        return UCS_ERR_UNSUPPORTED;
    }

    // Writes at most attr().max_put_short bytes. The buffer may be reused on return. A flush tells
    // when the bytes have arrived. Returns UCS_OK or an error.
    virtual ucs_status_t put_short(const void* from, std::size_t length, const remote_place& to);

    // Lets `pack` write at most attr().max_put_bcopy bytes into the transport's buffer, which are
    // then written to remote memory. Returns the packed length or an error, see am_bcopy.
    virtual ssize_t put_bcopy(pack_function pack, void* arg, const remote_place& to);

    // Reads at most attr().max_get_bcopy bytes through a buffer of the transport: the local memory
    // need not be registered. Statuses as get_zcopy.
    virtual ucs_status_t get_bcopy(void* into, std::size_t length, const remote_place& from,
                                   completion* done);

    // Performs the atomic operation on the word at that place. It is atomic with respect to all
    // atomic operations of this transport on that word; and to instructions of the processor if
    // attr().atomics_of_processor is set. `before` receives the old value; it may be nullptr.
    // Statuses as get_zcopy, and UCS_ERR_INVALID_PARAM (the address is no multiple of the size,
    // there is no such operation, or a swap has no `before`), UCS_ERR_INVALID_ADDR (outside of the
    // memory), UCS_ERR_REJECTED (the memory was attached for reading).
    virtual ucs_status_t atomic(const atomic_op& change, const remote_place& place, void* before,
                                completion* done);

    // Ends when everything sent before has left the local side. Returns UCS_OK, or UCS_INPROGRESS;
    // then `done` is called. Does not wait for queued pending requests.
    virtual ucs_status_t flush(completion* done);

    // Returns a number, not 0, that changes whenever something comes from the peer's interface.
    // Returns 0 if the transport cannot tell. May be a system call.
    [[nodiscard]] virtual std::uint64_t received() const noexcept { return 0; }

    // If attr().claims_process is set, the endpoint accesses the memory of the process that the
    // peer's address names, which may be any process. So the caller uses it only after this has
    // returned true for the process that iface::sender_process has reported as the peer. Returns
    // false if the address names another process, or none was reported.
    [[nodiscard]] virtual bool bind_to(const ucs::sys::process_identity&) noexcept { return true; }

    // Checks once whether the peer still responds; the owner calls this repeatedly. If the peer has
    // not responded for several checks in a row while a response is due, it is lost: the endpoint
    // fails with UCS_ERR_ENDPOINT_TIMEOUT. Effective only if attr().needs_check is set; other
    // transports are notified of a lost peer.
    virtual void check() noexcept {}

    // If attr().keyed is set, fails the endpoint at once with UCS_ERR_CANCELED: from now on the
    // peer, which is not notified, can access no memory over it, even with operations in progress.
    // Other endpoints give no access, and are not changed.
    virtual void abort() noexcept {}

    // Queues a send that found no resource, or that must wait behind others.
    virtual void pending_add(pending_request& request) = 0;

    // Removes a queued request. The other requests keep their order.
    virtual void pending_remove(pending_request& request) = 0;

    // Removes all queued requests and passes each to `purge`.
    virtual void pending_purge(void (*purge)(pending_request& request, void* arg), void* arg) = 0;

    // Name of the peer for log lines ("pid 123", "10.0.0.1:4242").
    [[nodiscard]] virtual std::string peer_name() const = 0;

    void describe(ucs::vfs::directory& into) const override;
};

}  // namespace uct
