#include "test/sim/model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sim_test {

namespace {

bool fits(ucp_tag_t tag, const operation_record& receive) {
    return ((tag ^ receive.tag) & receive.mask) == 0;
}

std::size_t stream_of(ucp_tag_t tag) {
    return static_cast<std::size_t>((tag & stream_mask) >> 32U);
}

}  // namespace

const char* name(operation_kind kind) noexcept {
    static constexpr const char* names[] = {"send",  "receive", "flush",        "worker flush",
                                            "close", "arrival", "data receive", "write",
                                            "read",  "put",     "get",          "atomic"};
    return names[static_cast<std::size_t>(kind)];
}

operation_record& model::start(operation_kind kind, std::size_t worker) {
    operation_record& fresh = operations_.emplace_back();
    fresh.kind = kind;
    fresh.worker = worker;
    fresh.number = next_call();
    return fresh;
}

std::size_t model::new_stream() {
    streams_.emplace_back();
    return streams_.size() - 1;
}

message_record& model::add_message(std::size_t stream, ucp_tag_t tag_class, std::size_t from,
                                   std::size_t to, std::size_t length) {
    message_record& fresh = messages_.emplace_back();
    fresh.tag = (tag_class << 48U) | (ucp_tag_t{stream} << 32U) | streams_[stream].size();
    fresh.from = from;
    fresh.to = to;
    fresh.length = length;
    streams_[stream].push_back(&fresh);
    by_tag_[fresh.tag] = &fresh;
    return fresh;
}

void model::violation(std::string text) {
    if (violation_.empty()) violation_ = std::move(text);
}

void model::forget(operation_record& which) {
    which.forgotten = true;
    if (which.kind == operation_kind::receive) forgotten_.push_back(&which);
}

void model::disturb(std::size_t a, std::size_t b) {
    disturbed_.insert({std::min(a, b), std::max(a, b)});
    touched_.insert(a);
    touched_.insert(b);
}

void model::disturb_all(std::size_t a, std::size_t workers) {
    for (std::size_t b = 0; b < workers; ++b)
        disturb(a, b);
}

bool model::disturbed(std::size_t a, std::size_t b) const {
    return disturbed_.contains({std::min(a, b), std::max(a, b)});
}

void model::ended(operation_record& which, ucs_status_t status) {
    if (which.done) {
        violation(fmt::format("ended twice: {}", text(which)));
        return;
    }
    which.done = true;
    which.done_at = next_call();
    which.status = status;
    if (status == UCS_INPROGRESS) violation(fmt::format("ended unfinished: {}", text(which)));
    switch (which.kind) {
        case operation_kind::send:
            ended_send(which);
            break;
        case operation_kind::receive:
            ended_receive(which);
            break;
        case operation_kind::data_receive:
            ended_data_receive(which);
            break;
        case operation_kind::write:
        case operation_kind::read:
            ended_on_stream(which);
            break;
        case operation_kind::arrival:
            break;
        case operation_kind::put:
        case operation_kind::get:
        case operation_kind::atomic:
            memory_.ended(which);
            break;
        case operation_kind::flush:
        case operation_kind::worker_flush:
        case operation_kind::close:
            ended_flush(which);
            break;
    }
    if (which.data == nullptr || which.kind == operation_kind::read)
        return;  // process::check_reads checks reads
    const bool read = which.kind == operation_kind::receive ||
                      which.kind == operation_kind::data_receive ||
                      which.kind == operation_kind::get;
    if (read || status == UCS_OK) {
        which.data.reset();
    } else if (which.handles_errors) {
        // If a send failed, the peer may still read its memory while the program reuses it. Spoiled
        // data is not mistaken for the message.
        which.data->spoil();
    }
}

void model::ended_send(operation_record& send) {
    const message_record& sent = *send.message;
    if (sent.refused && send.status == UCS_ERR_NO_RESOURCE) return;
    if (send.status != UCS_OK && !disturbed(sent.from, sent.to)) {
        violation(fmt::format("failed without a reason: {}", text(send)));
    }
}

void model::ended_receive(operation_record& receive) {
    const bool matched = receive.status == UCS_OK || receive.status == UCS_ERR_MESSAGE_TRUNCATED;
    const auto found = by_tag_.find(receive.info.sender_tag);
    if (!matched) {
        // A matched receive whose endpoint broke has the same status.
        const bool wanted =
            receive.status == UCS_ERR_CANCELED && receive.canceled && receive.info.sender_tag == 0;
        if (!wanted && !disturbed(receive.worker)) {
            violation(fmt::format("failed without a reason: {}", text(receive)));
        }
        if (!wanted && found != by_tag_.end()) found->second->taken_by = &receive;
        return;
    }
    if (found == by_tag_.end()) {
        violation(fmt::format("a message that was never sent: {}", text(receive)));
        return;
    }
    message_record& got = *found->second;
    if (got.taken_by != nullptr) {
        violation(fmt::format("delivered twice, first by {}, now by {}", text(*got.taken_by),
                              text(receive)));
        return;
    }
    got.taken_by = &receive;
    const bool too_long = got.length > receive.data->length();
    if (!fits(got.tag, receive) || got.to != receive.worker) {
        violation(fmt::format("does not match: {}", text(receive)));
    } else if (receive.info.length != got.length) {
        violation(fmt::format("wrong length, {} bytes were sent: {}", got.length, text(receive)));
    } else if (too_long != (receive.status == UCS_ERR_MESSAGE_TRUNCATED)) {
        violation(fmt::format("wrong status for {} bytes: {}", got.length, text(receive)));
    } else if (!too_long && !receive.data->holds(got.tag, got.length)) {
        violation(fmt::format("wrong data: {}", text(receive)));
    }
}

void model::ended_flush(operation_record& flush) {
    if (flush.status != UCS_OK && !disturbed(flush.worker)) {
        violation(fmt::format("failed without a reason: {}", text(flush)));
    }
    if (flush.status != UCS_OK || flush.forced) return;
    // Closing succeeds even if the connection breaks. A worker's flush does not wait for sends of
    // an endpoint that failed before: they may end later, when their fragments have left.
    if (flush.kind != operation_kind::flush && disturbed(flush.worker)) return;
    for (const operation_record* before : flush.waits_for) {
        const bool asked = !before->has_callback && !before->released && before->handle != nullptr;
        const bool ended = before->done || (asked && ucp_request_is_completed(before->handle) != 0);
        if (!ended && !before->forgotten) {
            violation(fmt::format("{} ended before {}", text(flush), text(*before)));
        }
    }
    for (operation_record* covered : flush.covers)
        memory_.flushed(*covered);
}

message_record* model::arrived(ucp_tag_t tag, std::size_t receiver, std::size_t length,
                               bool in_order) {
    const auto found = by_tag_.find(tag);
    if (found == by_tag_.end() || !found->second->active) {
        violation(
            fmt::format("worker {} was called with an active message that was never sent: "
                        "{:x}",
                        receiver, tag));
        return nullptr;
    }
    message_record& got = *found->second;
    if (got.taken_by != nullptr) {
        violation(fmt::format("active message {:x} came twice", tag));
        return nullptr;
    }
    if (got.to != receiver || got.length != length) {
        violation(
            fmt::format("active message {:x} of {} bytes for worker {} came to worker {} as "
                        "{} bytes",
                        tag, got.length, got.to, receiver, length));
    }
    if (in_order) {
        const ucp_tag_t place = tag & ~(class_mask | stream_mask);
        ucp_tag_t& last = last_arrival_[stream_of(tag)];
        if (place < last) {
            violation(fmt::format("active message {:x} came after place {}", tag, last));
        }
        last = place;
    }
    return &got;
}

void model::ended_data_receive(operation_record& receive) {
    const message_record& got = *receive.message;
    const bool too_long = got.length > receive.data->length();
    if (receive.status == UCS_OK ? too_long : receive.status == UCS_ERR_MESSAGE_TRUNCATED) {
        if (!too_long || receive.status == UCS_OK) {
            violation(fmt::format("wrong status for {} bytes: {}", got.length, text(receive)));
        }
        return;
    }
    if (receive.status != UCS_OK) {
        if (!disturbed(got.from, got.to)) {
            violation(fmt::format("failed without a reason: {}", text(receive)));
        }
    } else if (!receive.data->holds(got.tag, got.length)) {
        violation(fmt::format("wrong data: {}", text(receive)));
    }
}

bool model::may_vanish(const message_record& message) const {
    if (disturbed(message.from, message.to)) return true;
    if (message.active) return false;
    // A receive whose request was freed may have taken it.
    return std::any_of(forgotten_.begin(), forgotten_.end(), [&](const operation_record* each) {
        return each->worker == message.to && fits(message.tag, *each);
    });
}

// A stream operation may fail if its end of the stream is closed. If it waits for the peer, it may
// also fail if the peer closed its end.
void model::ended_on_stream(const operation_record& which) {
    if (which.status == UCS_OK || disturbed(which.worker)) return;
    const bool by_peer =
        which.status == UCS_ERR_CONNECTION_RESET && closed_.contains({which.peer, which.worker});
    const bool by_us =
        closed_.contains({which.worker, which.peer}) &&
        (which.status == UCS_ERR_CANCELED || which.status == UCS_ERR_CONNECTION_RESET);
    const bool may_fail = by_peer || (by_us && which.kind == operation_kind::read);
    if (!may_fail) violation(fmt::format("failed without a reason: {}", text(which)));
}

bool model::over(const operation_record& which) const {
    return which.done || which.forgotten || dead(which.worker);
}

bool model::all_ended() const {
    return std::all_of(operations_.begin(), operations_.end(),
                       [this](const operation_record& each) { return over(each); });
}

bool model::all_but_reads_ended() const {
    return std::all_of(operations_.begin(), operations_.end(),
                       [this](const operation_record& each) {
                           return each.kind == operation_kind::read || over(each);
                       });
}

bool model::settled(const message_record& m) const {
    return m.taken_by != nullptr || dead(m.to) || dead(m.from) || may_vanish(m);
}

bool model::all_delivered() const {
    return std::all_of(messages_.begin(), messages_.end(),
                       [this](const message_record& m) { return settled(m); });
}

std::vector<const message_record*> model::last_missing(std::size_t to) const {
    std::vector<const message_record*> list;
    for (const auto& stream : streams_) {
        const auto last = std::find_if(stream.rbegin(), stream.rend(),
                                       [](const message_record* m) { return !m->active; });
        if (last != stream.rend() && (*last)->to == to && !settled(**last)) list.push_back(*last);
    }
    return list;
}

void model::check_everything() {
    for (const message_record& each : messages_)
        check_delivery(each);
    for (const operation_record& each : operations_) {
        const bool matched = each.kind == operation_kind::receive && each.done &&
                             (each.status == UCS_OK || each.status == UCS_ERR_MESSAGE_TRUNCATED);
        if (!matched || violated()) continue;
        check_order(each);
        check_fairness(each);
    }
}

void model::check_delivery(const message_record& message) {
    const operation_record& send = *message.sent_by;
    if (dead(message.to) || dead(message.from)) return;
    if (message.taken_by == nullptr) {
        if (!may_vanish(message)) violation(fmt::format("never delivered: {}", text(send)));
        return;
    }
    // A synchronous send completes when its message is matched, so not before the receive was
    // posted.
    if (message.synchronous && send.done && send.status == UCS_OK &&
        send.done_at < message.taken_by->number) {
        violation(
            fmt::format("{} ended before {} was posted", text(send), text(*message.taken_by)));
    }
}

// A receive that fits two messages of one endpoint gets the earlier one, unless an earlier receive
// took it.
void model::check_order(const operation_record& receive) {
    const ucp_tag_t tag = receive.info.sender_tag;
    for (const message_record* earlier : streams_[stream_of(tag)]) {
        if (earlier->tag == tag) return;
        const bool comparable =
            !earlier->active && fits(earlier->tag, receive) && earlier->to == receive.worker;
        if (!comparable || may_vanish(*earlier)) continue;
        if (earlier->taken_by == nullptr || earlier->taken_by->number > receive.number) {
            violation(fmt::format("{} overtook message {:x}, which went to {}", text(receive),
                                  earlier->tag,
                                  earlier->taken_by ? text(*earlier->taken_by) : "no receive"));
        }
    }
}

// An earlier receive that fits the message as well must have had a message by then.
void model::check_fairness(const operation_record& receive) {
    for (const operation_record& before : operations_) {
        if (before.number >= receive.number) continue;
        if (before.kind != operation_kind::receive || before.worker != receive.worker) continue;
        if (!fits(receive.info.sender_tag, before)) continue;
        if (before.status == UCS_ERR_CANCELED && before.canceled && before.info.sender_tag == 0 &&
            before.canceled_at > receive.done_at) {
            violation(fmt::format("{} was passed over by {}", text(before), text(receive)));
        }
    }
}

std::string model::text(const operation_record& operation) const {
    std::string line = fmt::format("{} #{} of worker {}", name(operation.kind), operation.number,
                                   operation.worker);
    if (operation.kind == operation_kind::send) {
        line += fmt::format(" tag {:x}, {} bytes to worker {}{}", operation.message->tag,
                            operation.message->length, operation.message->to,
                            operation.message->synchronous ? ", synchronous" : "");
    } else if (operation.kind == operation_kind::receive) {
        line += fmt::format(" tag {:x} mask {:x}, got {:x} of {} bytes", operation.tag,
                            operation.mask, operation.info.sender_tag, operation.info.length);
    } else if (operation.kind == operation_kind::data_receive ||
               operation.kind == operation_kind::arrival) {
        line += fmt::format(" of message {:x}", operation.message->tag);
    } else {
        line +=
            fmt::format(" endpoint {}{}", operation.endpoint, operation.forced ? ", forced" : "");
    }
    if (operation.remote != nullptr) line += operation.remote->text();
    return line + fmt::format(" ({}{}{}{})",
                              operation.done ? ucs_status_string(operation.status) : "running",
                              operation.has_callback ? ", callback" : "",
                              operation.user_request ? ", own request" : "",
                              operation.canceled ? ", canceled" : "");
}

std::string model::pending_text() const {
    std::string list;
    for (const operation_record& each : operations_) {
        if (!each.done && !each.forgotten && !dead(each.worker)) list += text(each) + "\n";
    }
    for (const message_record& each : messages_) {
        const bool settled = each.taken_by != nullptr || dead(each.to) || dead(each.from);
        if (!settled && !may_vanish(each)) list += "undelivered: " + text(*each.sent_by) + "\n";
    }
    return list;
}

}  // namespace sim_test
