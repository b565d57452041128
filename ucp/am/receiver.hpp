// Receiving active messages: from arrival to the program's handler, and what the program keeps.
#pragma once

#include <span>

#include "ucp/am/block.hpp"
#include "ucp/am/handlers.hpp"
#include "ucp/core/operation.hpp"
#include "ucp/core/request.hpp"
#include "ucp/core/shared_limit.hpp"
#include "ucp/eager/assembly.hpp"
#include "ucs/sys/usable_memory.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Owned by its worker; owner context. Handlers run in progress.
class am_receiver final : public ucs::vfs::object {
public:
    // `alignment` of data that the program may keep, and of what it is shown: a power of two.
    am_receiver(worker& owner, std::size_t alignment) noexcept
        : owner_(owner), blocks_(alignment) {}
    ~am_receiver();
    am_receiver(const am_receiver&) = delete;
    am_receiver& operator=(const am_receiver&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }

    void listen(uct::iface& on);
    void set_handler(std::uint16_t id, const am_handler& handler) { handlers_.set(id, handler); }

    // See ucp_am_recv_data_nbx. The block is used up also when an error is returned.
    ucs_status_ptr_t receive_data(am_block& kept, void* buffer, std::size_t count,
                                  const operation& params);
    // See ucp_am_data_release.
    void release(am_block& kept);

    // Memory of messages of which not all is here: in fragments, or announced and wanted whole by
    // the program. It is taken at the beginning of each. All peers may take up half of the memory
    // that the process may use.
    [[nodiscard]] shared_limit& arriving() noexcept { return arriving_; }
    // The share of this peer counts a message that has begun, instead of that of the peer before.
    void charge_to(peer& sender, const assembly& begun) noexcept;
    void charge_to(peer& sender, const request& receive) noexcept;

    // Blocks that the program has.
    [[nodiscard]] std::size_t kept_count() const noexcept;

    // How often it has looked through all peers for the one with the largest share.
    [[nodiscard]] std::uint64_t searches() const noexcept { return searches_; }

    void describe(ucs::vfs::directory& into) const override;

private:
    // A message as its handler is told of it.
    struct arrival {
        wire::am_word word;
        const std::byte* header;
        ep* answer_by;  // or nullptr
    };

    void on_only(const std::byte* data, std::size_t length);
    void on_first(const std::byte* data, std::size_t length);
    void on_rts(const std::byte* data, std::size_t length);

    // Data in memory of the transport, gone after the call.
    void deliver(const am_handler& to, const arrival& what, std::span<const std::byte> data);
    // Data in a block, which goes to the program or back to the pool.
    void deliver(const am_handler& to, const arrival& what, am_block& block);
    void announce(const am_handler& to, const arrival& what, ep& from, announced offer);
    // For handlers that do not fetch announced data themselves.
    void fetch(const arrival& what, ep& from, announced offer);
    static void fetched(void* request, ucs_status_t status, std::size_t length, void* arg);
    // Returns whether so much memory may be taken for one more message of the sender. If others
    // take up more than the sender then would, the one with most fails, which calls the program.
    [[nodiscard]] bool make_room(peer& sender, std::uint64_t bytes);
    void charge(am_block& block, peer& sender, std::uint64_t bytes) noexcept;
    void discharge(am_block& block) noexcept;
    void move_charge(peer& sender, am_block& block) noexcept;
    void whole(am_block& block);
    ucs_status_t call(const am_handler& to, const arrival& what, void* data, std::size_t length,
                      std::uint64_t attributes);
    void receive_announced(request& receive, am_block& kept);
    void use_up(am_block& block) noexcept;
    void give_back(am_block& kept) noexcept;
    void refuse(am_block& unwanted, ucs_status_t status);
    void unknown(wire::am_word word, std::size_t length);

    friend class am_adapters;

    worker& owner_;
    am_handler_table handlers_;
    am_block_pool blocks_;
    shared_limit arriving_{ucs::sys::usable_memory() / 2};
    std::uint64_t largest_share_ = 0;  // no peer has more; it may be less by now
    std::uint64_t searches_ = 0;
    ucs::datastruct::auto_list<am_block, &am_block::kept_hook> kept_;
};

}  // namespace ucp
