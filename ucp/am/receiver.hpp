// Receives active messages: from arrival to the program's handler, and the data that the program
// keeps.
#pragma once

#include <span>

#include "ucp/am/block.hpp"
#include "ucp/am/handlers.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/core/request.hpp"
#include "ucp/core/shared_limit.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/eager/assembly.hpp"
#include "ucs/sys/usable_memory.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Slot of a peer: its share of am_receiver::arriving.
struct peer_arriving {
    explicit peer_arriving(peer&) noexcept {}

    limit_share share;
};

// Receiver of active messages, the slot of a worker. Owner context. Handlers run in progress.
class am_receiver final : public ucs::vfs::object {
public:
    explicit am_receiver(worker& owner) noexcept;
    ~am_receiver();
    am_receiver(const am_receiver&) = delete;
    am_receiver& operator=(const am_receiver&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }

    void listen(uct::iface& iface);
    // Finds the longest header of the program that every interface carries in one message.
    void limit_headers() noexcept;
    [[nodiscard]] std::size_t max_header() const noexcept { return max_header_; }
    void set_handler(std::uint16_t id, const am_handler& handler) { handlers_.set(id, handler); }

    // See ucp_am_recv_data_nbx. The block is consumed even if an error is returned.
    ucs_status_ptr_t receive_data(am_block& kept, void* buffer, std::size_t count,
                                  const operation& params);
    // See ucp_am_data_release.
    void release(am_block& kept);

    // Memory of incomplete messages: messages in fragments, and messages sent by rendezvous whose
    // handler wants the whole data. It is allocated when a message begins. All peers together may
    // use half of the memory that the process may use.
    [[nodiscard]] shared_limit& arriving() noexcept { return arriving_; }
    // Moves the charge of a message that has begun from its previous peer to the share of `sender`.
    void charge_to(peer& sender, const assembly& begun) noexcept;
    void charge_to(peer& sender, const request& receive) noexcept;

    // Returns the number of blocks that the program keeps.
    [[nodiscard]] std::size_t kept_count() const noexcept;

    // Returns how often all peers were searched for the one with the largest share.
    [[nodiscard]] std::uint64_t searches() const noexcept { return searches_; }

    void describe(ucs::vfs::directory& into) const override;

private:
    // A message as passed to its handler.
    struct arrival {
        wire::am_fields fields;
        const std::byte* header;
        ep* reply_ep;  // may be nullptr
    };

    void on_only(const std::byte* data, std::size_t length);
    void on_first(const std::byte* data, std::size_t length);
    void on_rts(const std::byte* data, std::size_t length);

    // Delivers data in memory of the transport, which is invalid after the call.
    void deliver(const am_handler& handler, const arrival& message,
                 std::span<const std::byte> data);
    // Delivers data in a block, which goes to the program or returns to the pool.
    void deliver(const am_handler& handler, const arrival& message, am_block& block);
    void deliver_rts(const am_handler& handler, const arrival& message, ep& from, rts_info rts);
    // Fetches the data of an RTS for handlers that want the whole message.
    void fetch(const arrival& message, ep& from, rts_info rts);
    static void fetched(void* request, ucs_status_t status, std::size_t length, void* arg);
    // Returns true if `bytes` more memory may be used for a message of the sender. If another peer
    // would still use more than the sender, the peer with the largest share fails, which may call
    // the program.
    [[nodiscard]] bool make_room(peer& sender, std::uint64_t bytes);
    void charge(am_block& block, peer& sender, std::uint64_t bytes) noexcept;
    void discharge(am_block& block) noexcept;
    void move_charge(peer& sender, am_block& block) noexcept;
    void complete(am_block& block);
    ucs_status_t call(const am_handler& handler, const arrival& message, void* data,
                      std::size_t length, std::uint64_t attributes);
    void receive_rendezvous(request& receive, am_block& kept);
    void consume(am_block& block) noexcept;
    void return_block(am_block& kept) noexcept;
    void refuse(am_block& unwanted, ucs_status_t status);
    void log_no_handler(wire::am_fields fields, std::size_t length);

    friend class am_adapters;

    worker& owner_;
    am_handler_table handlers_;
    // Upper limit, as other libraries report it: programs need not expect more.
    std::size_t max_header_ = wire::am_longest_header;
    am_block_pool blocks_;
    shared_limit arriving_{ucs::sys::usable_memory() / 2};
    std::uint64_t largest_share_ = 0;  // no peer has more; the peer's share may be smaller by now
    std::uint64_t searches_ = 0;
    ucs::datastruct::auto_list<am_block, &am_block::kept_hook> kept_;
};

}  // namespace ucp
