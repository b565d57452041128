// Making, replacing and closing the lanes to a peer.
#pragma once

#include <vector>

#include "ucp/core/lanes.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/wireup/select.hpp"
#include "ucs/sys/process.hpp"

namespace ucp {
class peer;
class protocol_table;
}  // namespace ucp

namespace ucp::wireup {

// Slot of a peer. Lanes are made at first use; until the first endpoint is established, a
// lane that fails is replaced by another one. Owner context.
class lane_setup {
public:
    explicit lane_setup(peer& of_peer) noexcept : peer_(of_peer) {}
    lane_setup(const lane_setup&) = delete;
    lane_setup& operator=(const lane_setup&) = delete;

    // Chooses lanes and makes their transport endpoints, unless lanes exist. Logs errors. With
    // `pairs::excluded` no paired lanes are chosen: if the peer declined paired lanes, so do we.
    ucs_status_t connect(pairs allowed_pairs = pairs::allowed) noexcept;
    // Makes the lanes if there are none, and sends the requests of endpoints that wait again. The
    // endpoints fail if there are no lanes.
    void connect_endpoints(pairs allowed_pairs) noexcept;
    // Closes the lanes and makes others for the endpoints that want to connect.
    void reconnect(pairs allowed_pairs) noexcept;
    // The same without the resource, whose lane failed.
    void change_lanes(std::size_t without, ucs_status_t failure) noexcept;
    // Closes the lanes. Returns the attempt whose end the peer has to be notified of, or 0.
    std::uint64_t disconnect() noexcept;
    // Closes all lanes but the bootstrap lane.
    void close_lanes() noexcept;

    // Takes an address of the same worker that the program or the worker itself has given. The new
    // address counts only until an endpoint is connected, because the worker takes connections only
    // by its true addresses. If the new address has other interfaces, the old one may have been
    // wrong: existing lanes are then made anew. Returns whether an address with other interfaces
    // replaced the known one.
    bool readdress(std::span<const std::byte> packed_address);
    // Moves the endpoints whose clients have not answered yet to the peer object whose address was
    // given.
    void hand_over_waiting(peer& given) noexcept;
    // Connects the endpoints that were handed over to this peer object.
    void connect_handed_over() noexcept;

    // A lane failed. Until the first endpoint is ready, another lane is tried.
    void lane_failed(const uct::ep& failed, ucs_status_t status) noexcept;
    // The message lane over this resource, or the bootstrap lane, is lost.
    void lane_lost(std::size_t resource, ucs_status_t status) noexcept;
    // Stops using the memory lane: receivers request the data in messages from now on.
    void drop_rma(rma_state why) noexcept;
    // A proven connection message of the worker came from this process of the host, as the kernel
    // reports. Single copies start to be used if they reach that process. A pid of 0 means that the
    // process is not known.
    void learn_process(const ucs::sys::process_identity& shown) noexcept;
    // To be called when lanes were made, closed or connected, after the peer's message about that
    // has arrived.
    void note_lanes() noexcept;

    // Makes a lane. `open` excludes the resource from later choices if that fails.
    [[nodiscard]] bool open(const lane_choice& choice, lane& into);
    [[nodiscard]] ucs_status_t make(std::size_t resource, std::span<const std::byte> to,
                                    lane& into);
    void close(lane& used) noexcept;

    [[nodiscard]] lane_selection select(const address::worker_address& remote,
                                        pairs allowed_pairs) const;
    [[nodiscard]] const protocol_table* protocols() const noexcept { return protocols_; }
    void choose_protocols();

private:
    ucs_status_t connect_over_what_is_left(pairs allowed_pairs) noexcept;
    ucs_status_t try_to_make_lanes(pairs allowed_pairs) noexcept;
    ucs_status_t make_lanes(pairs allowed_pairs);
    [[nodiscard]] bool pair_with_itself();
    void choose_protocols_again() noexcept;
    [[nodiscard]] bool reaches_unknown_process() noexcept;
    [[nodiscard]] bool may_change_lane() const noexcept;
    void drop_rail(std::size_t index, ucs_status_t why) noexcept;
    bool exclude(std::size_t resource, ucs_status_t failure) noexcept;

    peer& peer_;
    const protocol_table* protocols_ = nullptr;
    struct excluded {
        std::size_t resource;
        ucs_status_t failure;
    };
    std::vector<excluded> excluded_;      // resources whose lane to this peer failed
    ucs::sys::process_identity process_;  // the process of the worker; pid 0: not known
    bool has_handed_over_ = false;  // endpoints were handed over; lanes for them are to be made
};

// Returns whether an endpoint to the peer needs lanes.
[[nodiscard]] bool is_any_wanted(peer& of_peer) noexcept;
[[nodiscard]] bool is_any_established(peer& of_peer) noexcept;

}  // namespace ucp::wireup
