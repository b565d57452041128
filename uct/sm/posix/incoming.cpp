#include "uct/sm/posix/incoming.hpp"

#include "ucs/topology/machine.hpp"
#include "uct/base/log.hpp"

namespace uct::posix {

void incoming::on_socket_event() {
    packet got = receive_packet(socket_.get());
    if (got.type == packet::kind::nothing_yet) return;
    if (got.type == packet::kind::message) return take(got);
    if (state_ == state::open) {
        state_ = state::draining;
        ucs::log::debug(posix_log, "pid {} {}", peer_.pid,
                        ring_.closed_in_order() ? "closed its endpoint" : "is gone");
    } else {
        state_ = state::ended;
    }
}

void incoming::take(packet& got) {
    if (state_ == state::connected) return answer(got.content());
    if (state_ == state::challenged) return greet(got);
    if (is_wake_up_call(got.content())) return;  // it announces a message in the ring
    refuse("it said something after its hello");
}

void incoming::answer(std::span<const std::byte> received) {
    const auto said = parse_challenge(received);
    if (!said.value) return refuse(said.reason);
    reply_socket_ = said.value->reply_socket;
    const connection_name name{.receiver = own_.socket_id, .sender = reply_socket_};
    exchange_.emplace(own_.secret.as_key(), name.as_bytes(), said.value->nonce);
    const reply proof{.content = exchange_->answer()};
    if (send_packet(socket_.get(), proof) != 0) return refuse("it takes no reply");
    state_ = state::challenged;
}

void incoming::greet(packet& got) {
    const auto said = parse_hello(got.content());
    if (!said.value) return refuse(said.reason);
    // The secret is part of the address of this interface, so a sender that was given the address
    // knows it.
    if (!exchange_->accepts(said.value->proof))
        return refuse("it does not know the secret of this process");
    if (!got.fd) return refuse("its hello came without a segment");
    auto memory = segment::attach(got.fd.get(), said.value->segment_size);
    if (!memory.reason.empty()) return refuse(memory.reason);
    memory_ = std::move(memory.memory);
    ucs::topology::prefer_node(memory_.base(), said.value->segment_size,
                               ucs::topology::home_node());
    ring_ = ring_reader{said.value->geometry(), memory_.base()};
    exchange_.reset();
    state_ = state::open;
    ucs::log::debug(posix_log, "pid {} (socket {:016x}) sends through a ring of {} slots",
                    peer_.pid, reply_socket_, said.value->slots);
}

void incoming::refuse(const std::string& reason) {
    rejected_.warn(posix_log, "a connection from pid {} (user {}) is refused: {}", peer_.pid,
                   peer_.uid, reason);
    end(packet_kind::refused);
}

void incoming::end(packet_kind goodbye) noexcept {
    send_plain_packet(socket_.get(), goodbye);
    state_ = state::ended;
}

}  // namespace uct::posix
