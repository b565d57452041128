#include "uct/ib/rc/base/ep.hpp"

#include <fmt/format.h>

namespace uct::rc {
namespace {

// Waits for everything that was sent before, and for what that has still to send.
struct flush_op final : tx_op {
    flush_op(connection& of, completion* waiting) noexcept : begun(of.stepped_count()) {
        for_user = true;
        on = &of;
        done = waiting;
        finish = go_on;
    }
    static void go_on(tx_op& self) noexcept {
        auto& op = static_cast<flush_op&>(self);
        if (op.status == UCS_OK && op.on->is_stepping(op.begun) && op.on->user != nullptr)
            return op.on->user->owner().try_later(op);
        const std::unique_ptr<flush_op> ended(&op);
        ended->done->finish(ended->status);
    }

    const std::uint32_t begun;
};

}  // namespace

ep::ep(iface& owner, const ib::address& peer, std::unique_ptr<connection> made) noexcept
    : base_ep(owner), peer_(peer), connection_(std::move(made)) {
    connection_->user = this;
}

ep::~ep() {
    owner().leave(std::move(connection_));
}

ucs_status_t ep::connect_to(std::span<const std::byte> theirs) {
    const auto data = wire::connection_data::parse(theirs);
    if (!data) {
        owner().rejected().error(ib::ib_log, "{}: the connection data of {} is malformed",
                                 iface_.where().device, peer_name());
        return UCS_ERR_INVALID_ADDR;
    }
    if (connection_->at() != connection::state::unconnected) {
        return connection_->error();  // again
    }
    const ucs_status_t status = owner().connect(*connection_, peer_, *data);
    owner().look_after(*connection_);
    return status;
}

ucs_status_t ep::flush(completion* done) {
    if (connection_->error() != UCS_OK && connection_->idle()) return connection_->error();
    const bool idle = connection_->idle();
    if (idle && !connection_->is_stepping(connection_->stepped_count())) return UCS_OK;
    if (done != nullptr) {
        auto* const waiting = new (std::nothrow) flush_op(*connection_, done);
        if (waiting == nullptr) return UCS_ERR_NO_MEMORY;
        if (idle) {
            owner().try_later(*waiting);
        } else {
            connection_->add(*waiting);
        }
    }
    if (!connection_->want_completion()) owner().attend_to(*connection_);
    owner().look_after(*connection_);
    return UCS_INPROGRESS;
}

// The device asks for an acknowledgement of whatever is sent, so something has to be, and its end
// has to show.
void ep::check() noexcept {
    if (!may_access()) return;
    if (connection_->idle()) {
        connection_->post_nothing();
    } else if (!connection_->want_completion()) {
        owner().attend_to(*connection_);
    }
    owner().look_after(*connection_);
}

// A queue pair in its error state refuses what comes.
void ep::abort() noexcept {
    connection_->fail(UCS_ERR_CANCELED);
    owner().look_after(*connection_);
}

std::string ep::peer_name() const {
    ib::gid_entry theirs;
    theirs.gid = peer_.gid;
    theirs.type = peer_.link;
    if (theirs.empty()) return fmt::format("LID {}", peer_.lid);
    return theirs.text();
}

void ep::describe(ucs::vfs::directory& into) const {
    base_ep::describe(into);
    const connection& of = *connection_;
    into.file("queue_pair", [&of] { return fmt::format("{:#x}", of.pair().number()); });
    into.file("state", [&of] {
        return fmt::format("{}, queue pair {}", name(of.at()), name(of.pair().at()));
    });
    into.file("send_requests", [&of] { return std::to_string(of.credits().outstanding()); });
    into.file("flow_window", [&of] { return std::to_string(of.flow().left()); });
    into.file("doorbells", [&of] { return std::to_string(of.doorbells()); });
    into.file("completions", [&of] { return std::to_string(of.completions()); });
}

}  // namespace uct::rc
