// The random program that every process runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "test/sim/process.hpp"
#include "ucp/capi/handles.hpp"

namespace sim_test {

using ucp::capi::handle;

void process::act() {
    if (worker_ == nullptr) return;
    endpoint_record* ep = some_endpoint();
    const std::uint64_t choice = all_.dice.below(100);
    if (ep != nullptr && choice >= 5 && choice < 90 && all_.dice.chance(all_.plan.remote)) {
        act_remotely(*ep);
        return;
    }
    if (ep != nullptr && choice >= 5 && choice < 90 && all_.dice.chance(all_.plan.streams)) {
        act_on_stream(*ep);
        return;
    }
    if (ep == nullptr || choice < 5) {
        create_endpoint();
    } else if (choice < 33) {
        send(*ep);
    } else if (choice < 45) {
        send_active(*ep);
    } else if (choice < 50) {
        act_on_stream(*ep);
    } else if (choice < 75) {
        post_receive();
    } else if (choice < 83) {
        probe();
    } else if (choice < 86) {
        cancel_one();
    } else if (choice < 90) {
        flush(*ep);
    } else if (choice < 92) {
        flush_worker();
    } else if (choice < 95) {
        release_one();
    } else {
        random_close();
    }
}

endpoint_record* process::some_endpoint() {
    std::vector<endpoint_record*> open;
    for (const auto& each : endpoints_) {
        if (!each->closed) open.push_back(each.get());
    }
    return open.empty() ? nullptr : open[all_.dice.below(open.size())];
}

void process::create_endpoint() {
    const std::size_t open = static_cast<std::size_t>(std::count_if(
        endpoints_.begin(), endpoints_.end(), [](const auto& each) { return !each->closed; }));
    if (open >= 3 * all_.plan.workers) return;
    if (all_.dice.chance(all_.plan.sockets)) {
        connect_by_socket();
        return;
    }
    endpoint_record* const fresh = &new_endpoint(all_.dice.below(all_.plan.workers));
    // Programs exchange addresses in buffers of fixed size.
    std::vector<std::byte> address = all_.processes[fresh->to]->address();
    address.resize(1024);
    ucp_ep_params_t params;
    std::memset(static_cast<void*>(&params), 0x5a, sizeof params);
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    if (fresh->handles_errors) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler = {on_error, fresh};
    }
    if (all_.dice.chance(0.3)) {
        params.field_mask |= UCP_EP_PARAM_FIELD_FLAGS;
        params.flags = UCP_EP_PARAMS_FLAGS_NO_LOOPBACK;
    }
    const ucs_status_t status = ucp_ep_create(handle(*worker_), &params, &fresh->handle);
    if (status != UCS_OK) {
        all_.records.violation(fmt::format("ucp_ep_create: {}", ucs_status_string(status)));
        fresh->closed = true;
    }
}

// The caller must set its handle.
endpoint_record& process::new_endpoint(std::size_t to) {
    endpoint_record& fresh = *endpoints_.emplace_back(std::make_unique<endpoint_record>());
    fresh.owner = this;
    fresh.number = endpoints_.size() - 1;
    fresh.to = to;
    fresh.stream = all_.records.new_stream();
    fresh.handles_errors = all_.dice.chance(all_.plan.peer_mode);
    return fresh;
}

std::size_t process::some_size() {
    const uct::sim::parameters& network = all_.plan.network;
    const std::size_t borders[] = {0,
                                   8,
                                   64,
                                   1000,
                                   8192,
                                   network.max_short,
                                   network.max_bcopy - 8,
                                   network.max_bcopy - 40,
                                   network.max_bcopy,
                                   2 * network.max_bcopy - 64,
                                   3 * network.max_bcopy};
    const std::uint64_t choice = all_.dice.below(10);
    if (choice < 4) return borders[all_.dice.below(std::size(borders))] + all_.dice.below(3);
    if (choice < 7) return all_.dice.below(200);
    const std::size_t most = std::min<std::size_t>(40 * network.max_bcopy, 150'000);
    return all_.dice.below(choice < 9 ? std::min<std::size_t>(most, 20'000) : most);
}

layout process::some_layout() {
    const std::uint64_t choice = all_.dice.below(10);
    return choice < 5   ? layout::bytes
           : choice < 6 ? layout::words
           : choice < 8 ? layout::pieces
                        : layout::generic;
}

void process::send(endpoint_record& to) {
    operation_record& op = new_operation(operation_kind::send);
    op.endpoint = to.number;
    op.handles_errors = to.handles_errors;
    op.data = std::make_unique<payload>(some_layout(), some_size(), all_.dice);
    op.message =
        &all_.records.add_message(to.stream, all_.dice.below(3), number_, to.to, op.data->length());
    op.message->sent_by = &op;
    op.message->synchronous = all_.dice.chance(0.2);
    op.data->fill(op.message->tag);
    const ucp_request_param_t param = prepare(op);
    const auto call = op.message->synchronous ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
    started(op, call(to.handle, op.data->buffer(), op.data->count(), op.message->tag, &param),
            param);
}

void process::choose_criteria(ucp_tag_t& tag, ucp_tag_t& mask) {
    tag = all_.dice.below(3) << 48U;
    const std::uint64_t choice = all_.dice.below(10);
    mask = choice < 2 ? 0 : class_mask;
    if (choice < 5) return;
    std::vector<std::size_t> streams;
    for (const auto& other : all_.processes) {
        for (const auto& each : other->endpoints_) {
            if (each->to == number_) streams.push_back(each->stream);
        }
    }
    if (streams.empty()) return;
    const std::size_t stream = streams[all_.dice.below(streams.size())];
    tag |= ucp_tag_t{stream} << 32U;
    mask |= stream_mask;
    if (choice < 8) return;
    // One message, sent or to be sent, of any class.
    const std::size_t sent = all_.records.stream_length(stream);
    tag |= all_.dice.between(sent > 4 ? sent - 4 : 0, sent + 1);
    mask = ~ucp_tag_t{0};
}

void process::post_receive() {
    ucp_tag_t tag;
    ucp_tag_t mask;
    choose_criteria(tag, mask);
    receive(tag, mask, all_.dice.chance(0.7) ? 20'000 : some_size());
}

bool process::receive(ucp_tag_t tag, ucp_tag_t mask, std::size_t capacity) {
    operation_record& op = new_operation(operation_kind::receive);
    op.data = std::make_unique<payload>(some_layout(), capacity, all_.dice);
    op.tag = tag;
    op.mask = mask;
    ucp_request_param_t param = prepare(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
    param.recv_info.tag_info = &op.info;
    if (all_.dice.chance(0.1)) param.op_attr_mask |= UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    const ucs_status_ptr_t result =
        ucp_tag_recv_nbx(handle(*worker_), op.data->buffer(), op.data->count(), tag, mask, &param);
    const bool began = started(op, result, param);
    if (!began) op.data.reset();
    return began;
}

void process::probe() {
    probed found{};
    choose_criteria(found.tag, found.mask);
    const bool remove = all_.dice.chance(0.6);
    found.message =
        ucp_tag_probe_nb(handle(*worker_), found.tag, found.mask, remove ? 1 : 0, &found.info);
    if (found.message == nullptr) {
        if (!probed_.empty()) take_probed();
        return;
    }
    found.number = all_.records.next_call();
    if (((found.info.sender_tag ^ found.tag) & found.mask) != 0) {
        all_.records.violation(fmt::format("a probe for {:x}/{:x} found {:x}", found.tag,
                                           found.mask, found.info.sender_tag));
    }
    if (!remove) return;
    probed_.push_back(found);
    if (all_.dice.chance(0.5)) take_probed();
}

void process::take_probed() {
    const probed taken = probed_.back();
    probed_.pop_back();
    operation_record& op = new_operation(operation_kind::receive);
    const std::size_t length = taken.info.length;
    op.data = std::make_unique<payload>(
        some_layout(), all_.dice.chance(0.8) ? length : all_.dice.below(length + 2), all_.dice);
    op.tag = taken.tag;
    op.mask = taken.mask;
    op.number = taken.number;  // it was matched by the probe
    ucp_request_param_t param = prepare(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
    param.recv_info.tag_info = &op.info;
    started(op,
            ucp_tag_msg_recv_nbx(handle(*worker_), op.data->buffer(), op.data->count(),
                                 taken.message, &param),
            param);
}

void process::note_running(operation_record& flush, const endpoint_record* only) {
    for (operation_record& each : all_.records.operations()) {
        const bool sends = each.kind == operation_kind::send ||
                           each.kind == operation_kind::write || is_remote(each.kind);
        // Flushes of one endpoint end in order.
        const bool flushes = only != nullptr && each.kind == operation_kind::flush;
        if (!(sends || flushes) || each.worker != number_ || each.inside_call) continue;
        if (only != nullptr && each.endpoint != only->number) continue;
        if (!each.done && !each.forgotten) flush.waits_for.push_back(&each);
        if (is_remote(each.kind) && each.remote->visible_at == 0) flush.covers.push_back(&each);
    }
}

void process::flush(endpoint_record& which) {
    operation_record& op = new_operation(operation_kind::flush);
    op.endpoint = which.number;
    note_running(op, &which);
    const ucp_request_param_t param = prepare(op);
    started(op, ucp_ep_flush_nbx(which.handle, &param), param);
}

void process::flush_worker() {
    operation_record& op = new_operation(operation_kind::worker_flush);
    note_running(op, nullptr);
    const ucp_request_param_t param = prepare(op);
    started(op, ucp_worker_flush_nbx(handle(*worker_), &param), param);
}

void process::close(endpoint_record& which, bool force) {
    const profile kind = all_.plan.kind;
    if (kind == profile::abrupt || kind == profile::failures) {
        all_.records.disturb(number_, which.to);
    }
    operation_record& op = new_operation(operation_kind::close);
    op.endpoint = which.number;
    op.forced = force;
    all_.records.note_closed(number_, which.to);
    release_chunks(which);
    if (!force) note_running(op, &which);
    which.closed = true;
    ucp_request_param_t param = prepare(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    started(op, ucp_ep_close_nbx(which.handle, &param), param);
}

void process::random_close() {
    const bool gentle = all_.plan.kind == profile::orderly || all_.plan.kind == profile::closing;
    answer_one();
    if (!gentle && all_.dice.chance(all_.plan.sockets * 0.1)) stop_listening();
    endpoint_record* which = some_endpoint();
    if (all_.plan.kind == profile::orderly || which == nullptr) return;
    close(*which, all_.plan.kind != profile::closing && all_.dice.chance(0.5));
}

operation_record* process::some_running() {
    std::vector<operation_record*> running;
    for (operation_record& each : all_.records.operations()) {
        if (each.worker == number_ && !each.done && !each.inside_call && !each.forgotten &&
            !each.released) {
            running.push_back(&each);
        }
    }
    return running.empty() ? nullptr : running[all_.dice.below(running.size())];
}

void process::cancel_one() {
    operation_record* op = some_running();
    if (op != nullptr && op->kind == operation_kind::receive && !op->canceled) cancel(*op);
}

void process::release_one() {
    operation_record* op = some_running();
    if (op == nullptr || op->user_request || op->kind == operation_kind::read) return;
    if (op->kind == operation_kind::receive) {
        // Release a receive only if it has a message. Otherwise it would wait for ever, and could
        // not be canceled.
        if (!op->canceled) cancel(*op);
        if (op->done || ucp_request_is_completed(op->handle) != 0) return;
    }
    if (all_.dice.chance(0.5)) {
        all_.records.forget(*op);
        ucp_request_free(op->handle);
    } else if (op->has_callback) {
        op->released = true;
        ucp_request_release(op->handle);
    }
}

}  // namespace sim_test
