#include "uct/sim/iface.hpp"

#include <array>
#include <cstring>
#include <functional>

#include "uct/sim/ep.hpp"

namespace uct::sim {

sim_iface::sim_iface(const resource& where, const iface_params& params, fabric& network,
                     bool paired)
    : base_iface(where, params), fabric_(network), node_(network.join(params.worker_uid, paired)) {
    const parameters& p = network.network();
    attr_.ops = p.ops;
    attr_.max_short = p.max_short;
    attr_.max_bcopy = p.max_bcopy;
    attr_.max_zcopy = p.max_zcopy;
    attr_.max_zcopy_header = p.max_zcopy_header;
    attr_.max_iov = p.max_iov;
    attr_.max_rma = p.max_rma;
    attr_.address_length = 2 * sizeof(std::uint32_t);
    attr_.latency = static_cast<double>(p.min_latency + p.max_latency) / 2 * 1e-9;
    attr_.bandwidth = p.bandwidth;
    attr_.overhead = 100e-9;
    attr_.reach = p.reach;
    attr_.lands = p.lands;
}

unsigned sim_iface::progress() {
    if (!node_.alive) return 0;
    // At least one event, else a test that polls until nothing happens would stop too early.
    const std::size_t batch = 1 + fabric_.dice().below(fabric_.network().progress_batch);
    unsigned events = 0;
    for (; events < batch && !node_.due.empty(); ++events) {
        const due_item item = std::move(node_.due.front());
        node_.due.pop_front();
        handle(item);
    }
    events += report_failures();
    return events + dispatch_waiting();
}

void sim_iface::handle(const due_item& item) {
    switch (item.what) {
        case due_item::kind::message:
            receive(item.on);
            break;
        case due_item::kind::completion:
            end_operation(item.on, *item.which);
            break;
        case due_item::kind::failure:
            end_all(item.on);
            break;
        case due_item::kind::connected:
            break;  // waiting endpoints try again after the batch
    }
}

void sim_iface::receive(const link_ptr& on) {
    if (on->arrived.empty()) return;  // its link broke meanwhile
    const operation_ptr message = on->arrived.front();
    const am_handler to = handler(message->id);
    const bool asks = attr_.lands && to.locate != nullptr && message->length > to.landing_header;
    if (asks) {
        if (!landed_or_dropped(on, *message, to)) {
            node_.due.push_back({due_item::kind::message, on, {}});
        }
        return;
    }
    deliver_whole(on, *message);
}

void sim_iface::deliver_whole(const link_ptr& on, const operation& message) {
    on->arrived.pop_front();
    on->landing = false;
    fabric_.record(event_kind::delivered, *on, message.serial);
    fabric_.consumed_message(node_);
    delivering_ = {on.get(), &message};
    deliver(message.id, message.data.get(), message.length);
    delivering_ = {};
}

std::uint64_t sim_iface::connection_of(const peer_bytes& message) const noexcept {
    if (delivering_.on == nullptr) return 0;
    const std::byte* const begin = delivering_.message->data.get();
    const std::less<const std::byte*> before;
    const bool is_of_it = !before(message.payload(), begin) &&
                          before(message.payload(), begin + delivering_.message->length);
    return is_of_it ? delivering_.on->connection : 0;
}

bool sim_iface::end_connection(std::uint64_t number, ucs_status_t status) noexcept {
    for (const auto& [key, each] : node_.in) {
        if (each->connection != number || each->failure != UCS_OK) continue;
        const link_ptr ended = each;
        fabric_.end(ended, status);
        return true;
    }
    return false;
}

void sim_iface::append_connections(std::vector<std::uint64_t>& into) const {
    for (const auto& [key, each] : node_.in)
        if (each->failure == UCS_OK) into.push_back(each->connection);
}

// Receives the next piece in place; false when more pieces remain.
bool sim_iface::landed_or_dropped(const link_ptr& on, const operation& message,
                                  const am_handler& to) {
    const std::byte* header = message.data.get();
    const std::size_t payload = message.length - to.landing_header;
    auto* base = static_cast<std::byte*>(to.locate(to.arg, header, payload));
    if (base == nullptr && !on->landing) {
        deliver_whole(on, message);
        return true;
    }
    if (base != nullptr) {
        if (!on->landing) on->landed = 0;
        on->landing = true;
        const std::size_t rest = payload - on->landed;
        const std::size_t wanted = fabric_.network().landing_piece;
        const std::size_t piece =
            wanted == 0 ? fabric_.dice().between(1, rest) : std::min(wanted, rest);
        std::memcpy(base + on->landed, header + to.landing_header + on->landed, piece);
        on->landed += piece;
        fabric_.record(event_kind::landed_piece, *on, piece);
        if (on->landed < payload) return false;
    }
    on->landing = false;
    on->arrived.pop_front();
    fabric_.record(base != nullptr ? event_kind::delivered : event_kind::dropped, *on,
                   message.serial);
    fabric_.consumed_message(node_);
    if (base != nullptr) to.landed(to.arg, header, payload);
    return true;
}

void sim_iface::end_operation(const link_ptr& on, const operation& which) {
    if (!on->end(which)) return;  // ended by a failure or with its endpoint
    fabric_.record(event_kind::completed, *on, which.serial);
    const auto flushes = on->take_finished_flushes();
    if (which.done != nullptr) which.done->finish(UCS_OK);
    for (const operation_ptr& flush : flushes) {
        fabric_.record(event_kind::flushed, *on, flush->serial);
        flush->done->finish(UCS_OK);
    }
}

void sim_iface::end_all(const link_ptr& on) {
    std::vector<operation_ptr> all;
    all.swap(on->outstanding);
    for (const operation_ptr& one : all) {
        if (one->done != nullptr) one->done->finish(on->failure);
    }
    if (on->owner != nullptr) note_failure(*on->owner, on->failure);
}

void sim_iface::pack_address(std::span<std::byte> into) const {
    const std::array<std::uint32_t, 2> words{node_.id, fabric_.check_word(node_)};
    std::memcpy(into.data(), words.data(), sizeof words);
}

reachability sim_iface::check_reachable(std::span<const std::byte> address) const {
    if (fabric_.parse_address(node_, address)) return {};
    return {"its address is malformed, of another fabric or of another transport"};
}

ucs::result<node_id> sim_iface::target_of(std::span<const std::byte> address) const {
    const auto target = fabric_.parse_address(node_, address);
    if (!target) {
        ucs::log::error(uct_log, "{}/{}: create_ep: malformed address of {} bytes",
                        where().transport, where().device, address.size());
    }
    return target;
}

ucs::result<std::unique_ptr<ep>> sim_iface::create_ep(std::span<const std::byte> address) {
    const auto target = target_of(address);
    if (!target) return target.status();
    return std::unique_ptr<ep>(std::make_unique<sim_ep>(*this, fabric_, *target));
}

}  // namespace uct::sim
