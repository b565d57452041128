#include "ucp/tag/flow.hpp"

#include "ucp/core/handler.hpp"
#include "ucp/core/worker.hpp"
#include "ucp/eager/wire.hpp"

namespace ucp {

namespace {

void tell(const ep& to, wire::id id) {
    const wire::room_header header{to.remote_id()};
    to.remote().send_control(id, std::as_bytes(std::span(&header, 1)));
}

void on_question(worker& owner, const wire::room_header& header) {
    ep* const by = owner.find_ep(header.ep);
    if (by != nullptr) owner.matcher().room().asked(*by);
}

void on_answer(worker& owner, const wire::room_header& header) {
    ep* const to = owner.find_ep(header.ep);
    if (to != nullptr) to->remote().room_granted(*to);
}

}  // namespace

// The sender may have more endpoints than this one, so the question is answered whatever became of
// it.
void unexpected_room::asked(ep& by) {
    if (has_room()) {
        tell(by, wire::room_answer);
    } else if (!by.owed_hook.is_linked()) {
        owed_.push_back(by);
    }
}

void unexpected_room::answer_all() {
    while (!owed_.empty()) {
        const ep& next = owed_.front();
        owed_.pop_front();
        tell(next, wire::room_answer);
    }
}

void unexpected_room::ask_for_more() noexcept {
    while (!stopped_.empty()) {
        peer& sender = stopped_.front();
        stopped_.pop_front();
        sender.ask_for_more();
    }
}

void ask_for_room(const ep& to) {
    tell(to, wire::room_question);
}

void flow_listen(worker& owner, uct::iface& on) {
    handler_of<wire::room_question>::install_plain<wire::room_header, on_question>(on, owner);
    handler_of<wire::room_answer>::install_plain<wire::room_header, on_answer>(on, owner);
}

}  // namespace ucp
