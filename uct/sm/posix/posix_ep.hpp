// Endpoint of the posix transport.
#pragma once

#include <boost/intrusive/list_hook.hpp>

#include "ucs/datastruct/intrusive.hpp"
#include "uct/base/base_ep.hpp"
#include "uct/sm/base/address.hpp"
#include "uct/sm/posix/outgoing.hpp"
#include "uct/sm/posix/ring_writer.hpp"

namespace uct::posix {

class posix_iface;

// Sends to one peer through a ring of its own. Until the first send it has no ring, no descriptor
// and no connection. Messages are written to the ring at once, whether the peer has accepted it or
// not. The socket reports when the peer is gone. Owned by the protocol layer, owner context.
class posix_ep final : public base_ep {
public:
    posix_ep(posix_iface& owner, const sm::posix_address& peer,
             const listener_identity& receiver) noexcept;
    ~posix_ep() override;

    ucs_status_t am_short(am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override;
    ssize_t am_bcopy(am_id id, pack_function pack, void* arg) override;

    // Performed by the processor on the mapped block of the peer, and complete when the call
    // returns.
    ucs_status_t atomic(const atomic_op& change, const remote_place& place, void* before,
                        completion* done) override;

    // Messages in the ring reach the peer even if this process ends, so a flush waits only until
    // the peer has been given the ring, for which it must have proven its identity.
    ucs_status_t flush(completion* done) override;

    // A peer that has the ring owes no reply. Before that, its proof is due.
    void check() noexcept override;

    [[nodiscard]] std::uint64_t received() const noexcept override;

    [[nodiscard]] std::string peer_name() const override;
    void describe(ucs::vfs::directory& into) const override;

    // To be called before the worker sleeps while sends wait. Returns false if there is room.
    [[nodiscard]] bool sleep() noexcept { return writer_.sleep(); }

    // Continues to pass the ring to the peer. Returns true if the socket tells when to continue, or
    // the attempt is over.
    bool retry();

    [[nodiscard]] std::uint64_t peer_socket() const noexcept { return receiver_.socket_id; }
    [[nodiscard]] ucs_status_t error() const noexcept { return error_; }

    // Hook for the interface's list of endpoints whose peer does not have the ring yet.
    ucs::datastruct::list_hook retry_hook;
    // Hook for its list of endpoints that failed and are not reported yet.
    ucs::datastruct::auto_unlink_hook ended_hook;

private:
    [[nodiscard]] posix_iface& owner() noexcept;
    [[nodiscard]] const posix_iface& owner() const noexcept;

    // Out of line, so that the fast path saves no registers.
    [[gnu::noinline]] ucs_status_t send_slow(am_id id, std::uint64_t header, const void* payload,
                                             std::size_t length);
    [[nodiscard]] ucs_status_t need_slot();
    [[nodiscard]] std::byte* need_bulk(std::size_t capacity);
    [[nodiscard]] ucs_status_t connect() noexcept;
    [[nodiscard]] ucs_status_t go_on();
    [[nodiscard]] ucs_status_t watch();
    void unwatch() noexcept;
    void on_socket_event() noexcept;
    void on_goodbye(const packet& got) noexcept;
    [[gnu::noinline]] void wake_reader() noexcept;
    void fail(ucs_status_t status);
    void drop_connection();

    ring_writer writer_;
    std::unique_ptr<outgoing> connection_;
    // Small members after it lie in its padding.
    [[no_unique_address]] const listener_identity receiver_;
    const bool reader_may_sleep_;
    ucs_status_t error_ = UCS_OK;
};

static_assert(sizeof(posix_ep) <= 256, "idle endpoints must stay cheap");

}  // namespace uct::posix
