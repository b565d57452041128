#include "uct/ib/ud/base/ep.hpp"

#include <fmt/format.h>

#include <new>

namespace uct::ud {

ep::ep(iface& owner, std::unique_ptr<connection> made) noexcept
    : base_ep(owner), connection_(std::move(made)) {
    connection_->endpoint = this;
}

ep::~ep() {
    owner().leave(std::move(connection_));
}

ucs_status_t ep::flush(completion* done) {
    const sender& protocol = connection_->protocol;
    if (protocol.error() != UCS_OK) return protocol.error();
    if (protocol.window.empty() && connection_->open_operations == 0) return UCS_OK;
    if (done == nullptr) return UCS_INPROGRESS;
    auto* const waiting = new (std::nothrow) flush_op;
    if (waiting == nullptr) return UCS_ERR_NO_MEMORY;
    waiting->done = done;
    owner().flush(*connection_, *waiting);
    return UCS_INPROGRESS;
}

void ep::check() noexcept {
    owner().check(*connection_);
}

std::string ep::peer_name() const {
    const ib::address& port = connection_->to().where.port;
    ib::gid_entry gid;
    gid.gid = port.gid;
    gid.type = port.link;
    if (gid.empty()) return fmt::format("LID {}", port.lid);
    return gid.text();
}

void ep::describe(ucs::vfs::directory& into) const {
    base_ep::describe(into);
    const connection& conn = *connection_;
    const sender& protocol = conn.protocol;
    into.file("queue_pair", [&conn] { return fmt::format("{:#x}", conn.to().where.pair); });
    into.file("state", [&protocol] { return std::string(name(protocol.current_state())); });
    into.file("window", [&protocol] {
        const send_window& window = protocol.window;
        return fmt::format("{} packets, {} under way of {} allowed", window.held(),
                           window.under_way(), window.congestion.allowed());
    });
    into.file("psn", [&protocol] {
        const send_window& window = protocol.window;
        return fmt::format("next {}, oldest {}", window.next().value(), window.oldest().value());
    });
    into.file("retransmissions",
              [&protocol] { return std::to_string(protocol.window.repeated()); });
    into.file("resyncs", [&protocol] { return std::to_string(protocol.resyncs()); });
    into.file("round_trip", [&protocol] {
        const round_trip& timer = protocol.window.timer;
        return fmt::format("{:.1f} us, timer {:.1f} us",
                           ucs::time::to_seconds(timer.smoothed()) * 1e6,
                           ucs::time::to_seconds(timer.timeout()) * 1e6);
    });
}

}  // namespace uct::ud
