#include "uct/ib/rc/base/ep.hpp"

#include <fmt/format.h>

namespace uct::rc {
namespace {

// A flush. It waits for all work requests that were posted before, and for the multi-step
// operations that have begun before (stepped_op).
struct flush_op final : tx_op {
    flush_op(connection& flushed, completion* waiting) noexcept
        : begun(flushed.ops.stepped_count()) {
        for_user = true;
        conn = &flushed;
        done = waiting;
        finish = go_on;
    }
    static void go_on(tx_op& self) noexcept {
        auto& op = static_cast<flush_op&>(self);
        if (op.status == UCS_OK && op.conn->ops.is_stepping(op.begun) &&
            op.conn->endpoint != nullptr)
            return op.conn->endpoint->owner().retry_later(op);
        const std::unique_ptr<flush_op> ended(&op);
        ended->done->finish(ended->status);
    }

    const std::uint32_t begun;
};

}  // namespace

ep::ep(iface& owner, const ib::address& peer, std::unique_ptr<connection> made) noexcept
    : base_ep(owner), peer_(peer), connection_(std::move(made)) {
    connection_->endpoint = this;
}

ep::~ep() {
    owner().leave(std::move(connection_));
}

ucs_status_t ep::connect_to(std::span<const std::byte> peer_data) {
    const auto data = wire::connection_data::parse(peer_data);
    if (!data) {
        owner().rejected().error(ib_log, "{}: the connection data of {} is malformed",
                                 iface_.where().device, peer_name());
        return UCS_ERR_INVALID_ADDR;
    }
    if (connection_->current_state() != connection::state::unconnected) {
        return connection_->error();  // already connected
    }
    const ucs_status_t status = owner().connect(*connection_, peer_, *data);
    owner().handle_failure(*connection_);
    return status;
}

ucs_status_t ep::flush(completion* done) {
    if (connection_->error() != UCS_OK && connection_->queue().empty()) return connection_->error();
    const bool idle = connection_->queue().empty();
    if (idle && !connection_->ops.is_stepping(connection_->ops.stepped_count())) return UCS_OK;
    if (done != nullptr) {
        auto* const waiting = new (std::nothrow) flush_op(*connection_, done);
        if (waiting == nullptr) return UCS_ERR_NO_MEMORY;
        if (idle) {
            owner().retry_later(*waiting);
        } else {
            connection_->add(*waiting);
        }
    }
    if (!connection_->request_completion()) owner().queue_for_send(*connection_);
    owner().handle_failure(*connection_);
    return UCS_INPROGRESS;
}

// The device detects a dead peer only while a work request is outstanding, and reports it with a
// completion. So check() makes sure that a signaled request is outstanding.
void ep::check() noexcept {
    if (!may_access()) return;
    if (connection_->queue().empty()) {
        connection_->post_empty();
    } else if (!connection_->request_completion()) {
        owner().queue_for_send(*connection_);
    }
    owner().handle_failure(*connection_);
}

// Moves the queue pair to the error state, in which it refuses the requests of the peer.
void ep::abort() noexcept {
    connection_->fail(UCS_ERR_CANCELED);
    owner().handle_failure(*connection_);
}

std::string ep::peer_name() const {
    ib::gid_entry gid;
    gid.gid = peer_.gid;
    gid.type = peer_.link;
    if (gid.empty()) return fmt::format("LID {}", peer_.lid);
    return gid.text();
}

void ep::describe(ucs::vfs::directory& into) const {
    base_ep::describe(into);
    const connection& conn = *connection_;
    into.file("queue_pair", [&conn] { return fmt::format("{:#x}", conn.queue().pair.number()); });
    into.file("state", [&conn] {
        return fmt::format("{}, queue pair {}", name(conn.current_state()),
                           name(conn.queue().pair.current_state()));
    });
    into.file("send_requests",
              [&conn] { return std::to_string(conn.queue().credits().outstanding()); });
    into.file("flow_window", [&conn] { return std::to_string(conn.flow.left()); });
    into.file("doorbells", [&conn] { return std::to_string(conn.queue().doorbells()); });
    into.file("completions", [&conn] { return std::to_string(conn.queue().completions()); });
}

}  // namespace uct::rc
