#include "test/sim/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "test/sim/leftovers.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/vfs/text.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/explain.hpp"

namespace sim_test {

using ucp::capi::handle;

void request_areas::init(void* area) {
    std::memset(area, 0x6d, size);
    ++alive;
}

void request_areas::cleanup(void* area) {
    if (intact(area)) --alive;
}

bool request_areas::intact(const void* area) noexcept {
    const auto* bytes = static_cast<const unsigned char*>(area);
    return std::all_of(bytes, bytes + size, [](unsigned char byte) { return byte == 0x6d; });
}

process::process(simulation& all, std::size_t number, std::shared_ptr<ucp::context> from)
    : all_(all),
      number_(number),
      context_(std::move(from)),
      left_(all.plan.actions),
      callbacks_send_(all.dice.chance(0.5) ? 0.2 : 0) {
    ucp::worker_params params{.name = fmt::format("w{}", number), .client_id = number + 1};
    worker_ = std::move(*ucp::worker::create(*context_, params));
    address_ = worker_->identity().address(false);
    uid_ = worker_->uid();
    install_handlers();
    register_memory();
    listen();
}

process::~process() {
    destroy();
    unregister_memory();
}

void process::destroy() {
    quiet_ = true;
    left_ = 0;
    if (worker_ == nullptr) return;
    while (!probed_.empty())
        take_probed();
    cancel_posted();
    requests_.clear();
    listener_ = nullptr;
    worker_.reset();
    forget_keys();
    for (const auto& each : endpoints_)
        each->closed = true;
}

unsigned process::turn() {
    if (worker_ == nullptr || all_.records.dead(number_)) return 0;
    poll_requests();
    receive_kept_messages();
    for (const auto& each : endpoints_)
        check_reads(*each);
    if (all_.plan.sockets > 0 && all_.dice.chance(0.03)) worker_->schedule().look_everywhere();
    if (left_ > 0 && all_.dice.chance(0.2)) {
        --left_;
        act();
    }
    const unsigned drained = draining_ ? (drain() ? 1 : 0) + read_ready() : 0;
    return drained + ucp_worker_progress(handle(*worker_));
}

operation_record& process::new_operation(operation_kind kind) {
    operation_record& op = all_.records.start(kind, number_);
    op.owner = this;
    return op;
}

// Sets random attributes on an operation's parameters.
ucp_request_param_t process::prepare(operation_record& op) {
    ucp_request_param_t param;
    std::memset(static_cast<void*>(&param), 0x5a, sizeof param);  // unmasked fields are garbage
    param.op_attr_mask = UCP_OP_ATTR_FIELD_USER_DATA;
    param.user_data = &op;
    if (all_.dice.chance(0.6)) {
        op.has_callback = true;
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK;
        if (op.kind == operation_kind::receive) {
            param.cb.recv = on_receive;
        } else if (op.kind == operation_kind::data_receive) {
            param.cb.recv_am = on_data;
        } else if (op.kind == operation_kind::read) {
            param.cb.recv_stream = on_stream;
        } else {
            param.cb.send = on_send;
        }
    }
    if (all_.dice.chance(0.3)) {
        op.user_request = true;
        op.user_memory.assign(sizeof(ucp::request) / 8 + 8, 0xdeadbeefcafef00dULL);
        auto* base = reinterpret_cast<std::byte*>(op.user_memory.data());
        if (reinterpret_cast<std::uintptr_t>(base) % 16 != 0) base += 8;
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
        param.request = base + sizeof(ucp::request);
        op.handle = param.request;
    }
    if (all_.dice.chance(0.2)) param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    if (op.data != nullptr) {
        const ucp_datatype_t type = op.data->datatype();
        if (type != ucp_dt_make_contig(1) || all_.dice.chance(0.5)) {
            param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
            param.datatype = type;
        }
    }
    ++depth_;
    return param;
}

bool process::started(operation_record& op, ucs_status_ptr_t result,
                      const ucp_request_param_t& param) {
    --depth_;
    if ((param.op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) != 0 &&
        result == UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE)) {
        op.done = true;
        op.status = UCS_ERR_NO_RESOURCE;
        return false;
    }
    op.inside_call = false;
    model& records = all_.records;
    if (!UCS_PTR_IS_PTR(result)) {
        if (op.callbacks > 0) {
            records.violation(
                fmt::format("callback of a call that ended at once: {}", records.text(op)));
        }
        const ucs_status_t status = UCS_PTR_RAW_STATUS(result);
        const bool no_immediate = op.kind != operation_kind::close &&
                                  (param.op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) != 0;
        if (no_immediate && status == UCS_OK) {
            records.violation(fmt::format("NO_IMM_CMPL was ignored: {}", records.text(op)));
        }
        const bool asks =
            op.kind != operation_kind::close && op.kind != operation_kind::data_receive;
        if (op.user_request && asks && status == UCS_OK) {
            ucp_tag_recv_info_t info{};
            const ucs_status_t seen = ucp_tag_recv_request_test(op.handle, &info);
            const bool same =
                op.kind != operation_kind::receive ||
                (info.length == op.info.length && info.sender_tag == op.info.sender_tag);
            if (seen != status || !same) {
                records.violation(
                    fmt::format("the own request does not show the result: {}", records.text(op)));
            }
        }
        records.ended(op, status);
        return true;
    }
    if (op.handle != nullptr && op.handle != result) {
        records.violation(fmt::format("another request was returned: {}", records.text(op)));
    }
    op.handle = result;
    check_area(op);
    if (!op.has_callback) polled_.push_back(&op);
    if (op.has_callback && op.done) {
        if (!op.user_request && !op.released) ucp_request_free(result);
        op.released = true;
    }
    return true;
}

// The context's init callback wrote a mark that must survive every reuse of the request.
void process::check_area(const operation_record& op) {
    if (op.user_request) return;
    if (!request_areas::intact(op.handle)) {
        all_.records.violation(fmt::format("user area was overwritten: {}", all_.records.text(op)));
    }
}

void process::completed(operation_record& op, void* request, ucs_status_t status) {
    model& records = all_.records;
    if (++op.callbacks > 1 || op.forgotten) {
        records.violation(fmt::format("unexpected callback: {}", records.text(op)));
        return;
    }
    if (op.handle != nullptr && op.handle != request) {
        records.violation(fmt::format("callback with another request: {}", records.text(op)));
    }
    op.handle = request;
    records.ended(op, status);
    after_callback(op);
}

void process::after_callback(operation_record& op) {
    // A request that was released early frees itself. Inside the call, the request is still to be
    // returned.
    if (!op.user_request && !op.released && !op.inside_call) {
        op.released = true;
        ucp_request_free(op.handle);
    }
    if (quiet_ || depth_ > 2 || !all_.dice.chance(callbacks_send_)) return;
    if (op.kind == operation_kind::send && all_.dice.chance(0.5)) {
        endpoint_record& again = *endpoints_[op.endpoint];
        if (!again.closed && !all_.records.dead(again.to)) send(again);
        return;
    }
    act();
}

void process::on_send(void* request, ucs_status_t status, void* arg) {
    auto& op = *static_cast<operation_record*>(arg);
    op.owner->completed(op, request, status);
}

void process::on_receive(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                         void* arg) {
    auto& op = *static_cast<operation_record*>(arg);
    op.info = *info;
    op.owner->completed(op, request, status);
}

void process::on_error(void* arg, ucp_ep_h which, ucs_status_t status) {
    auto& ep = *static_cast<endpoint_record*>(arg);
    model& records = ep.owner->all_.records;
    const std::string title = fmt::format("error callback ({}) of endpoint {} of worker {}",
                                          ucs_status_string(status), ep.number, ep.owner->number_);
    if (++ep.error_callbacks > 1) records.violation(title + " came twice");
    if (ep.closed) records.violation(title + " came after it was closed");
    if (!ep.handles_errors) records.violation(title + " was not asked for");
    if (ep.handle != which) records.violation(title + " names another endpoint");
    if (!records.disturbed(ep.owner->number_, ep.to)) {
        records.violation(title + " has no reason");
    }
    ep.failed = true;
    if (ep.owner->all_.dice.chance(0.3)) ep.owner->close(ep, true);
}

// Tests the requests of operations without callback, and frees completed ones.
void process::poll_requests() {
    std::vector<operation_record*> ready;
    std::erase_if(polled_, [&ready](operation_record* op) {
        if (op->forgotten) return true;
        if (ucp_request_is_completed(op->handle) == 0) return false;
        ready.push_back(op);
        return true;
    });
    for (operation_record* op : ready) {
        const ucs_status_t status = ucp_request_check_status(op->handle);
        if (op->kind == operation_kind::receive) ucp_tag_recv_request_test(op->handle, &op->info);
        if (op->kind == operation_kind::read)
            ucp_stream_recv_request_test(op->handle, &op->received);
        if (!op->user_request) ucp_request_free(op->handle);
        op->released = true;
        all_.records.ended(*op, status);
    }
}

void process::cancel(operation_record& receive) {
    receive.canceled = true;
    receive.canceled_at = all_.records.next_call();
    ucp_request_cancel(handle(*worker_), receive.handle);
}

void process::stop() {
    quiet_ = true;
    while (!requests_.empty())
        answer_one();
    receive_kept_messages();
    while (!probed_.empty())
        take_probed();
    for (const auto& each : endpoints_)
        release_chunks(*each);
    cancel_posted();
    // These receives match exactly, so they take their messages however many arrived before.
    awaited_ = all_.records.last_missing(number_);
    for (const message_record* last : awaited_)
        while (!receive(last->tag, ~ucp_tag_t{0}, last->length)) {
        }
}

// An earlier receive that cannot be canceled may take the message.
bool process::waits() const {
    return !all_.records.dead(number_) &&
           std::any_of(awaited_.begin(), awaited_.end(),
                       [this](const message_record* each) { return !all_.records.settled(*each); });
}

void process::start_draining() {
    cancel_posted();
    draining_ = true;
}

void process::cancel_posted() {
    for (operation_record& op : all_.records.operations()) {
        if (op.kind != operation_kind::receive || op.worker != number_ || op.done) continue;
        if (op.forgotten || op.canceled || op.released || op.inside_call) continue;
        cancel(op);
    }
}

bool process::drain() {
    ucp_tag_recv_info_t info{};
    const ucp_tag_message_h found = ucp_tag_probe_nb(handle(*worker_), 0, 0, 0, &info);
    if (found == nullptr) return false;
    receive(0, 0, info.length + all_.dice.below(2));
    return true;
}

// If an endpoint handles errors, its error callback comes before an operation fails.
void process::check_error_callbacks() {
    for (const operation_record& op : all_.records.operations()) {
        const bool uses_peer = op.kind == operation_kind::send || is_remote(op.kind);
        if (!uses_peer || op.worker != number_ || !op.done || op.status == UCS_OK) continue;
        if (op.kind == operation_kind::send && op.message->refused) continue;
        if (is_remote(op.kind) && (op.remote->refusal != UCS_OK || op.remote->no_resource))
            continue;
        const endpoint_record& ep = *endpoints_[op.endpoint];
        if (ep.closed || !ep.handles_errors || ep.error_callbacks == 1) continue;
        all_.records.violation(
            fmt::format("no error callback, but this failed: {}", all_.records.text(op)));
    }
}

void process::close_everything() {
    quiet_ = true;
    closing_ = true;
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
        if (!endpoints_[i]->closed) close(*endpoints_[i], all_.dice.chance(0.3));
    }
}

std::string process::leftovers() {
    return worker_ == nullptr ? std::string() : sim_test::leftovers(*worker_);
}

std::string process::state_text() {
    if (worker_ == nullptr) return fmt::format("worker {} is gone\n", number_);
    std::string text = ucp::worker_info(*worker_);
    text += fmt::format("# left: {}\n", leftovers());
    for (const auto& each : endpoints_) {
        text += fmt::format("# endpoint {} to worker {}: ", each->number, each->to);
        if (each->closed) {
            text += "closed\n";
        } else {
            const ucp::ep& shown = ucp::capi::from(each->handle);
            text += fmt::format("{}{}\n{}", ucp::wireup::name(ucp::wireup::state_of(shown)),
                                each->failed ? ", failed" : "",
                                ucp::wireup::explain_lanes(shown.remote()));
        }
    }
    return text;
}

}  // namespace sim_test
