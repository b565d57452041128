#include "ucp/proto/tables.hpp"

#include <cstdio>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/short_path.hpp"
#include "ucp/proto/striped.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp {

namespace {

const uct::iface_attr* device_copy_of(const worker& owner) noexcept {
    const std::size_t resource = owner.interfaces().find("cuda_copy");
    return resource < owner.interfaces().size() ? &owner.interfaces().at(resource)->attr()
                                                : nullptr;
}

}  // namespace

protocol_tables::protocol_tables(worker& owner) noexcept
    : streaming(owner.owner().costs().copy_cached / 2), owner_(owner) {}

lane_set protocol_tables::lanes_for(const known_table& known) const noexcept {
    const context& owner = owner_.owner();
    return {known.am,         known.rma,    &owner.costs(),        &owner.options(),
            streaming.used(), known.device, device_copy_of(owner_)};
}

const protocol_table& protocol_tables::find(const uct::iface_attr& am, const uct::iface_attr* rma,
                                            const uct::iface_attr* device) {
    for (const known_table& known : all_) {
        if (known.am == &am && known.rma == rma && known.device == device) return *known.table;
    }
    const context& owner = owner_.owner();
    known_table fresh{&am, rma, device, nullptr};
    fresh.table = std::make_unique<protocol_table>(lanes_for(fresh));
    all_.push_back(std::move(fresh));
    if (owner.options().proto_info == protocol_pages::all) {
        const std::string text = all_.back().table->explain(owner.params().features);
        std::fprintf(stderr, "# protocols of worker %s\n%s", owner_.params().name.c_str(),
                     text.c_str());
    }
    return *all_.back().table;
}

void protocol_tables::update_if_outdated() {
    if (!streaming.outdated()) return;
    streaming.adopt();
    const bool are_new = ucs::allocated([&] {
        for (known_table& known : all_)
            *known.table = protocol_table(lanes_for(known));
    });
    // Outdated tables cost time and nothing else.
    if (!are_new) ucs::log::debug(proto_log, "out of memory: protocols are not selected anew");
    owner_.endpoints().for_each([](ep& each) { slot_of<short_path>(each).refresh(each); });
    ucs::log::debug(proto_log, "data streams at {:.1f} GB/s: protocols were selected anew",
                    streaming.used() * 1e-9);
}

lane_set lane_set_for(const peer& to, std::size_t length) noexcept {
    worker& owner = to.owner();
    return {&to.lanes().am_attr(),
            to.lanes().rma() != nullptr ? &to.lanes().rma_attr() : nullptr,
            &owner.owner().costs(),
            &owner.owner().options(),
            slot_of<protocol_tables>(owner).streaming.used(),
            to.lanes().device.is_open() ? &to.lanes().device.attr() : nullptr,
            device_copy_of(owner),
            to.lanes().rail_count() > 1 ? rails_bandwidth(to, length) : 0};
}

}  // namespace ucp
