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
// before its interface. Owner context. Creation does not wait for the peer: operations before the
// connection stands return UCS_ERR_NO_RESOURCE or are kept by the transport.
//
// Ordering: active messages of one endpoint arrive in the order of the successful calls. Remote
// memory operations are not ordered with anything.
//
// Back-pressure: UCS_ERR_NO_RESOURCE means that nothing happened; queue the send by pending_add.
// As long as requests are queued, every new active message is refused with UCS_ERR_NO_RESOURCE
// (unless it comes from a queued request's own progress), so order is kept.
//
// Shortage of memory: no operation throws. It returns UCS_ERR_NO_MEMORY, and the endpoint fails
// with that if it cannot go on without.
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

    // Where attr().connection_length is not 0, endpoints come in pairs: one of each side, made for
    // each other. Both are made first; then each is given the other's connection data (which may be
    // anything), by whatever way there is. Messages may be sent from then on, and wait until the
    // other side knows, too, as long as that takes no longer than a retransmission or two.
    virtual void pack_connection(std::span<std::byte>) const {}
    // UCS_ERR_INVALID_ADDR: the data is malformed; other errors are the endpoint's end. Logged.
    virtual ucs_status_t connect_to(std::span<const std::byte>) { return UCS_ERR_UNSUPPORTED; }

    // What went out here since it was made, for people, and what waits.
    struct traffic {
        std::uint64_t operations = 0;  // messages, reads and writes that were accepted
        std::uint64_t bytes = 0;       // of them, with the headers of the layer above
        std::size_t queued = 0;        // requests that wait for resources, behind one that runs
    };
    [[nodiscard]] virtual traffic sent() const noexcept { return {}; }

    // Sends header (8 bytes) and payload, at most attr().max_short bytes of payload. The buffers
    // may be reused on return. UCS_OK, UCS_ERR_NO_RESOURCE or the endpoint's error.
    virtual ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                                  std::size_t length);

    // Lets `pack` write the message into the transport's buffer of at least attr().max_bcopy
    // bytes, which must hold a connection message (40 bytes and the worker's address, up to 1,064
    // in all). Returns the packed length (>= 0) or a status (< 0). `pack` runs at most once and
    // only when the message will be sent.
    virtual ssize_t am_bcopy(am_id id, pack_function pack, void* arg);

    // Sends `header` and then the pieces of `payload` from where they are. The header may be
    // reused on return, the payload when the call returned UCS_OK or, after UCS_INPROGRESS, when
    // `done` was told. The receiver sees one contiguous message. UCS_ERR_NO_MEMORY and
    // UCS_ERR_INVALID_ADDR also where a device cannot work with the payload's memory; then nothing
    // happened. Likewise get_zcopy and put_zcopy.
    virtual ucs_status_t am_zcopy(am_id id, std::span<const std::byte> header,
                                  std::span<const iov> payload, completion* done);

    // Reads remote memory into the pieces. UCS_OK, UCS_INPROGRESS (then `done`),
    // UCS_ERR_UNSUPPORTED where the system refuses access to this peer (the caller falls back to
    // copying), or another error.
    virtual ucs_status_t get_zcopy(std::span<const iov> into, const remote_place& from,
                                   completion* done);

    // Writes the pieces to remote memory. Statuses as get_zcopy.
    virtual ucs_status_t put_zcopy(std::span<const iov> from, const remote_place& to,
                                   completion* done);

    // put_zcopy of everything, and then a message of at most `longest_word` bytes, which arrives
    // when the data is there. Both are one request to the device, so `done` is told when both have
    // left. UCS_INPROGRESS; anything else: neither happened. UCS_ERR_UNSUPPORTED: not here, or not
    // so much at once; then put_zcopy, and a message when that has ended, do the same.
    static constexpr std::size_t longest_word = 32;
    virtual ucs_status_t put_zcopy_and_tell(std::span<const iov>, const remote_place&, am_id,
                                            std::span<const std::byte>, completion*) {
        return UCS_ERR_UNSUPPORTED;
    }

    // Writes at most attr().max_put_short bytes. The buffer may be reused on return; when the bytes
    // are there, flush tells. UCS_OK or an error.
    virtual ucs_status_t put_short(const void* from, std::size_t length, const remote_place& to);

    // Lets `pack` write at most attr().max_put_bcopy bytes into the transport's buffer, from where
    // they go to remote memory. Returns the packed length or an error, see am_bcopy.
    virtual ssize_t put_bcopy(pack_function pack, void* arg, const remote_place& to);

    // Reads at most attr().max_get_bcopy bytes by a buffer of the transport: local memory need not
    // be known to the device. Statuses as get_zcopy.
    virtual ucs_status_t get_bcopy(void* into, std::size_t length, const remote_place& from,
                                   completion* done);

    // Carries `what` out on the word at that place. Whoever else works on that word by atomic
    // operations of this transport sees them one after the other; instructions of the processor
    // count among them where attr().atomics_of_processor says so. `before` gets what was there;
    // nullptr: nobody wants to know. Statuses as get_zcopy, and UCS_ERR_INVALID_PARAM (the address
    // is no multiple of the size, there is no such operation, a swap without `before`),
    // UCS_ERR_INVALID_ADDR (outside of the memory), UCS_ERR_REJECTED (it was reached to be read).
    virtual ucs_status_t atomic(const atomic_op& what, const remote_place& at, void* before,
                                completion* done);

    // Ends when everything sent before has left the local side: UCS_OK, or UCS_INPROGRESS and
    // then `done`. Queued pending requests are not waited for.
    virtual ucs_status_t flush(completion* done);

    // Returns a number that changes whenever something comes from the peer's interface, and is not
    // 0. 0: the transport cannot tell. May be a system call.
    [[nodiscard]] virtual std::uint64_t received() const noexcept { return 0; }

    // Where attr().claims_process, the endpoint reaches the memory of the process that the peer's
    // address names, which may be any. So the caller uses it only once this has returned true for
    // the process that iface::sender_process has shown to be the peer. False: the address names
    // another one, or none was shown.
    [[nodiscard]] virtual bool bind_to(const ucs::sys::process_identity&) noexcept { return true; }

    // Looks once whether the peer still answers; the owner calls it again and again. A peer that
    // owes an answer at each of several looks in a row, and gave none in between, is lost: the
    // endpoint fails with UCS_ERR_ENDPOINT_TIMEOUT. Only where attr().checked; other transports are
    // told.
    virtual void check() noexcept {}

    // Fails the endpoint at once with UCS_ERR_CANCELED, where attr().keyed: the peer, who is told
    // nothing, reaches no memory over it any more from here on, whatever it has under way. Other
    // endpoints give nobody access, and stay as they are.
    virtual void abort() noexcept {}

    // Queues a send that found no resource, or that others wait before.
    virtual void pending_add(pending_request& request) = 0;

    // Takes one request out that is queued here. Its neighbours keep their order.
    virtual void pending_remove(pending_request& request) = 0;

    // Takes every queued request out and hands it to `purge`.
    virtual void pending_purge(void (*purge)(pending_request& request, void* arg), void* arg) = 0;

    // Who is at the other end, for people ("pid 123", "10.0.0.1:4242").
    [[nodiscard]] virtual std::string peer_name() const = 0;

    void describe(ucs::vfs::directory& into) const override;
};

}  // namespace uct
