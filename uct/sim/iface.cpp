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
    attr_.supports_landing = p.supports_landing;
}

unsigned sim_iface::progress() {
    if (!node_.alive) return 0;
    // Handles at least one event; otherwise a test that polls until nothing happens would stop too
    // early.
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
    switch (item.type) {
        case due_item::kind::message:
            receive(item.conn);
            break;
        case due_item::kind::completion:
            end_operation(item.conn, *item.op);
            break;
        case due_item::kind::failure:
            end_all(item.conn);
            break;
        case due_item::kind::connected:
            break;  // waiting endpoints try again after the batch
    }
}

void sim_iface::receive(const link_ptr& conn) {
    if (conn->arrived.empty()) return;  // its link has failed meanwhile
    const operation_ptr message = conn->arrived.front();
    const am_handler to = handler(message->id);
    const bool asks =
        attr_.supports_landing && to.locate != nullptr && message->length > to.landing_header;
    if (asks) {
        if (!landed_or_dropped(conn, *message, to)) {
            node_.due.push_back({due_item::kind::message, conn, {}});
        }
        return;
    }
    deliver_whole(conn, *message);
}

void sim_iface::deliver_whole(const link_ptr& conn, const operation& message) {
    conn->arrived.pop_front();
    conn->landing = false;
    fabric_.record(event_kind::delivered, *conn, message.serial);
    fabric_.consumed_message(node_);
    delivering_ = {conn.get(), &message};
    deliver(message.id, message.data.get(), message.length);
    delivering_ = {};
}

std::uint64_t sim_iface::connection_of(const peer_bytes& message) const noexcept {
    if (delivering_.conn == nullptr) return 0;
    const std::byte* const begin = delivering_.message->data.get();
    const std::less<const std::byte*> before;
    const bool is_of_it = !before(message.payload(), begin) &&
                          before(message.payload(), begin + delivering_.message->length);
    return is_of_it ? delivering_.conn->connection : 0;
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

// Receives the next piece in place. Returns false if more pieces remain.
bool sim_iface::landed_or_dropped(const link_ptr& conn, const operation& message,
                                  const am_handler& to) {
    const std::byte* header = message.data.get();
    const std::size_t payload = message.length - to.landing_header;
    auto* base = static_cast<std::byte*>(to.locate(to.arg, header, payload));
    if (base == nullptr && !conn->landing) {
        deliver_whole(conn, message);
        return true;
    }
    if (base != nullptr) {
        if (!conn->landing) conn->landed = 0;
        conn->landing = true;
        const std::size_t rest = payload - conn->landed;
        const std::size_t wanted = fabric_.network().landing_piece;
        const std::size_t piece =
            wanted == 0 ? fabric_.dice().between(1, rest) : std::min(wanted, rest);
        std::memcpy(base + conn->landed, header + to.landing_header + conn->landed, piece);
        conn->landed += piece;
        fabric_.record(event_kind::landed_piece, *conn, piece);
        if (conn->landed < payload) return false;
    }
    conn->landing = false;
    conn->arrived.pop_front();
    fabric_.record(base != nullptr ? event_kind::delivered : event_kind::dropped, *conn,
                   message.serial);
    fabric_.consumed_message(node_);
    if (base != nullptr) to.landed(to.arg, header, payload);
    return true;
}

void sim_iface::end_operation(const link_ptr& conn, const operation& op) {
    if (!conn->end(op)) return;  // it has ended by a failure or with its endpoint
    fabric_.record(event_kind::completed, *conn, op.serial);
    const auto flushes = conn->take_finished_flushes();
    if (op.done != nullptr) op.done->finish(UCS_OK);
    for (const operation_ptr& flush : flushes) {
        fabric_.record(event_kind::flushed, *conn, flush->serial);
        flush->done->finish(UCS_OK);
    }
}

void sim_iface::end_all(const link_ptr& conn) {
    std::vector<operation_ptr> all;
    all.swap(conn->outstanding);
    for (const operation_ptr& op : all) {
        if (op->done != nullptr) op->done->finish(conn->failure);
    }
    if (conn->owner != nullptr) note_failure(*conn->owner, conn->failure);
}

void sim_iface::pack_address(std::span<std::byte> into) const {
    const std::array<std::uint32_t, 2> words{node_.id, fabric_.checksum(node_)};
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
