#include "tools/perf/ucp/channel.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

std::string description_of(ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) return "(no request)";
    std::array<char, 512> text{};
    ucp_request_attr_t attr{};
    attr.field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING | UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
    attr.debug_string = text.data();
    attr.debug_string_size = text.size();
    const ucs_status_t status = ucp_request_query(request, &attr);
    return status == UCS_OK ? text.data() : ucs_status_string(status);
}

}  // namespace

ucp_channel::ucp_channel(const connection& conn, unsigned window, std::uint32_t stream)
    : conn_(conn),
      loop_(conn.worker, conn.stop, conn.params.waiting),
      send_memory_(conn.params, conn.params.send_layout, conn.params.validate ? window : 1,
                   conn.context),
      recv_memory_(conn.params, conn.params.recv_layout, conn.params.validate ? window : 1,
                   conn.context),
      validate_(conn.params.validate),
      outgoing_stream_(stream * 2 + (conn.part == side::responder ? 1 : 0)),
      incoming_stream_(stream * 2 + (conn.part == side::initiator ? 1 : 0)),
      send_slots_(validate_ ? window : 1),
      recv_slots_(validate_ ? window : 1) {
    for (std::size_t index = 0; index < send_slots_.size(); ++index) {
        send_slots_[index] = {this, index, 0};
        recv_slots_[index] = {this, index, 0};
        free_sends_.push_back(&send_slots_[index]);
        free_receives_.push_back(&recv_slots_[index]);
    }
    constexpr std::uint32_t fields = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    send_param_.op_attr_mask = fields;
    send_param_.cb.send = &ucp_channel::on_sent;
    send_memory_.describe(send_param_);
    recv_param_.op_attr_mask = fields;
    recv_memory_.describe(recv_param_);
}

ucp_channel::slot& ucp_channel::take(std::vector<slot*>& from) {
    const std::lock_guard held(guard_);
    slot& taken = *from.back();
    from.pop_back();
    return taken;
}

void ucp_channel::give_back(std::vector<slot*>& to, slot& done) {
    const std::lock_guard held(guard_);
    to.push_back(&done);
}

ucp_channel::slot& ucp_channel::take_filled_send_slot() {
    slot& taken = take(free_sends_);
    taken.number = next_send_++;
    send_memory_.fill(taken.index, outgoing(taken.number));
    return taken;
}

ucp_channel::slot& ucp_channel::take_numbered_receive_slot() {
    slot& taken = take(free_receives_);
    taken.number = next_receive_++;
    return taken;
}

void ucp_channel::on_sent(void* request, ucs_status_t status, void* arg) {
    auto& done = *static_cast<slot*>(arg);
    ucp_channel& owner = *done.owner;
    ucp_request_free(request);
    owner.check("send", status);
    if (owner.validate_) owner.give_back(owner.free_sends_, done);
    owner.sends_
        .ended_by_callback();  // last, because the thread may be waiting to destroy the channel
}

void ucp_channel::receive_ended(slot& done, ucs_status_t status, std::size_t length,
                                bool by_callback) {
    check("receive", status);
    if (validate_) {
        if (status == UCS_OK) verify(done, length);
        give_back(free_receives_, done);
    }
    if (by_callback) {
        receives_.ended_by_callback();  // last, as above
    } else {
        receives_.ended_at_once();
    }
}

void ucp_channel::verify(const slot& received, std::size_t length) {
    if (!has_expected_length(received.number, length)) return;
    const pattern content = incoming(received.number);
    const auto mismatch = recv_memory_.find_difference(received.index, content);
    if (mismatch) fail_mismatch(received.number, *mismatch, content);
}

bool ucp_channel::has_expected_length(std::uint64_t number, std::size_t length) {
    const std::size_t expected = conn_.params.message_size();
    if (length == expected) return true;
    fail(
        fmt::format("validation: message {} of thread {} came as {} bytes where {} bytes were sent",
                    number, conn_.thread, length, expected));
    return false;
}

void ucp_channel::fail_mismatch(std::uint64_t number, std::size_t offset, const pattern& expected) {
    fail(
        fmt::format("validation: message {} of thread {} is wrong at offset {} of {} "
                    "(expected byte {:#04x})",
                    number, conn_.thread, offset, conn_.params.message_size(),
                    std::to_integer<unsigned>(expected.at(offset))));
}

void ucp_channel::fail_status(const char* operation, ucs_status_t status) {
    fail(fmt::format("{} failed: {}", operation, ucs_status_string(status)));
}

void ucp_channel::fail(std::string message) {
    const std::lock_guard held(guard_);
    if (failed_.load(std::memory_order_relaxed)) return;
    failure_ = std::move(message);
    failed_.store(true, std::memory_order_release);
}

void ucp_channel::throw_failure() const {
    throw failure(failure_);
}

void ucp_channel::finish(ucs_status_ptr_t request, const char* operation) {
    const ucs_status_t status = loop_.finish(request);
    if (status != UCS_OK) {
        throw failure(fmt::format("{} failed: {}", operation, ucs_status_string(status)));
    }
}

std::string ucp_channel::describe_send() {
    std::string text;
    if (conn_.part != side::initiator) receive();
    if (conn_.part != side::responder) {
        const slot& message = take_send_slot();
        ucp_request_param_t param{};
        // The request must exist so that it can be queried.
        param.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        send_memory_.describe(param);
        ucs_status_ptr_t request = post_send(message, param);
        text = description_of(request);
        finish(request, "sending");
    }
    wait_receives(0);
    return text;
}

}  // namespace tools::perf
