#include "uct/sm/posix/incoming.hpp"

#include "uct/sm/posix/log.hpp"

namespace uct::posix {

void incoming::on_socket_event() {
    packet got = receive_packet(socket_.get());
    if (got.type == packet::kind::nothing_yet) return;
    if (got.type == packet::kind::message) {
        if (state_ == state::greeting) return greet(got);
        if (is_wake_up_call(got.content())) return;  // its ring says why
        return refuse("it said something after its hello");
    }
    if (state_ == state::open) {
        state_ = state::draining;
        ucs::log::debug(posix_log, "pid {} {}", peer_.pid,
                        ring_.closed_in_order() ? "closed its endpoint" : "is gone");
    } else {
        state_ = state::ended;
    }
}

void incoming::greet(packet& got) {
    const hello_answer said = parse_hello(got.content());
    if (!said.value) return refuse(said.why_not);
    if (!got.fd) return refuse("its hello came without a segment");
    auto memory = segment::attach(got.fd.get(), said.value->segment_size);
    if (!memory.why_not.empty()) return refuse(memory.why_not);
    memory_ = std::move(memory.memory);
    ring_ = ring_reader{said.value->geometry(), memory_.base()};
    answer_to_ = said.value->answer_to;
    state_ = state::open;
    ucs::log::debug(posix_log, "pid {} (socket {:016x}) sends through a ring of {} slots",
                    peer_.pid, answer_to_, said.value->slots);
}

void incoming::refuse(const std::string& why_not) {
    rejected_.warn(posix_log, "a connection from pid {} (user {}) is refused: {}", peer_.pid,
                   peer_.uid, why_not);
    end(goodbye_reason::refused);
}

void incoming::end(goodbye_reason reason) noexcept {
    send_goodbye(socket_.get(), reason);
    state_ = state::ended;
}

}  // namespace uct::posix
