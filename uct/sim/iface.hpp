// Interface of the simulated transport.
#pragma once

#include "uct/base/base_iface.hpp"
#include "uct/sim/fabric.hpp"

namespace uct::sim {

// One node of a fabric. Owned by the worker; the fabric outlives it. Owner context.
class sim_iface : public base_iface {
public:
    sim_iface(const resource& where, const iface_params& params, fabric& network)
        : sim_iface(where, params, network, false) {}
    ~sim_iface() override { fabric_.leave(node_); }

    unsigned progress() override;
    void pack_address(std::span<std::byte> into) const override;
    reachability check_reachable(std::span<const std::byte> address) const override;
    ucs::result<std::unique_ptr<ep>> create_ep(std::span<const std::byte> address) override;
    [[nodiscard]] std::uint64_t connection_of(const peer_bytes& message) const noexcept override;
    bool end_connection(std::uint64_t number, ucs_status_t status) noexcept override;
    void append_connections(std::vector<std::uint64_t>& into) const override;

    [[nodiscard]] node& own_node() noexcept { return node_; }

protected:
    // `paired`: the interface has paired endpoints.
    sim_iface(const resource& where, const iface_params& params, fabric& network, bool paired);
    // Logs an error if the address is invalid.
    [[nodiscard]] ucs::result<node_id> target_of(std::span<const std::byte> address) const;

    fabric& fabric_;

private:
    void handle(const due_item& item);
    void receive(const link_ptr& conn);
    [[nodiscard]] bool landed_or_dropped(const link_ptr& conn, const operation& message,
                                         const am_handler& to);
    void deliver_whole(const link_ptr& conn, const operation& message);
    void end_operation(const link_ptr& conn, const operation& op);
    void end_all(const link_ptr& conn);

    node& node_;
    struct {
        const link* conn = nullptr;
        const operation* message = nullptr;
    } delivering_;
};

}  // namespace uct::sim
