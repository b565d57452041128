// The protocol tables of a worker.
#pragma once

#include <memory>
#include <vector>

#include "ucp/core/slots.hpp"
#include "ucp/proto/reuse_history.hpp"
#include "ucp/proto/selection.hpp"
#include "ucp/proto/stream_rate.hpp"

namespace ucp {

// Slot of a worker: one table for each pair of lanes, and what was observed for the choice of
// protocols. Owner context.
class protocol_tables {
public:
    explicit protocol_tables(worker& owner) noexcept;

    // Returns the table for these lanes; `rma` and `device` may be nullptr.
    const protocol_table& find(const uct::iface_attr& am, const uct::iface_attr* rma,
                               const uct::iface_attr* device = nullptr);
    // Makes all tables anew if `streaming` has changed much.
    void update_if_outdated();

    reuse_history reuse;
    stream_rate streaming;

private:
    struct known_table {
        const uct::iface_attr* am;
        const uct::iface_attr* rma;
        const uct::iface_attr* device;
        std::unique_ptr<protocol_table> table;
    };

    [[nodiscard]] lane_set lanes_for(const known_table& known) const noexcept;

    worker& owner_;
    std::vector<known_table> all_;
};

// Returns the properties of the lanes to a peer, as input for the predicted cost of a transfer of
// `length` bytes, which may use several rails.
[[nodiscard]] lane_set lane_set_for(const peer& to, std::size_t length) noexcept;

}  // namespace ucp
