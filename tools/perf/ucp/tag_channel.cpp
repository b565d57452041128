#include "tools/perf/ucp/tag_channel.hpp"

#include <fmt/format.h>

#include <array>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

constexpr ucp_tag_t message_tag = 0x1000'0000;
constexpr ucp_tag_t acknowledge_tag = 0x2000'0000;
constexpr ucp_tag_t every_bit = ~ucp_tag_t{0};

// Tells apart the messages of the two directions and of the threads.
std::uint32_t outgoing_stream(const connection& on) {
    return on.thread * 2 + (on.part == side::responder ? 1 : 0);
}

std::uint32_t incoming_stream(const connection& on) {
    return on.thread * 2 + (on.part == side::initiator ? 1 : 0);
}

std::string words_about(ucs_status_ptr_t request) {
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

tag_channel::tag_channel(const connection& on, const tag_channel_setup& setup)
    : on_(on),
      setup_(setup),
      loop_(on.worker, on.stop, on.params.waiting),
      tag_(message_tag + on.thread),
      ack_tag_(acknowledge_tag + on.thread),
      mask_(on.params.wildcard ? 0 : every_bit),
      validate_(on.params.validate),
      send_memory_(on.params, on.params.send_layout, validate_ ? setup.window : 1),
      recv_memory_(on.params, on.params.recv_layout, validate_ ? setup.window : 1),
      send_slots_(validate_ ? setup.window : 1),
      recv_slots_(validate_ ? setup.window : 1) {
    for (std::size_t index = 0; index < send_slots_.size(); ++index) {
        send_slots_[index] = {this, index, 0};
        recv_slots_[index] = {this, index, 0};
        free_sends_.push_back(&send_slots_[index]);
        free_receives_.push_back(&recv_slots_[index]);
    }
    constexpr std::uint32_t fields =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    send_param_.op_attr_mask = fields;
    send_param_.cb.send = &tag_channel::on_sent;
    send_param_.user_data = &send_slots_.front();
    send_param_.datatype = send_memory_.datatype();
    // Length and tag are to be checked, so they must come to the callback: OpenUCX 1.13 leaves
    // recv_info alone when a receive completes at once.
    recv_param_.op_attr_mask = fields | (validate_ ? UCP_OP_ATTR_FLAG_NO_IMM_CMPL : 0);
    recv_param_.cb.recv = &tag_channel::on_received;
    recv_param_.user_data = &recv_slots_.front();
    recv_param_.datatype = recv_memory_.datatype();
}

tag_channel::slot& tag_channel::take(std::vector<slot*>& from) {
    const std::lock_guard held(guard_);
    slot& taken = *from.back();
    from.pop_back();
    return taken;
}

void tag_channel::give_back(std::vector<slot*>& to, slot& done) {
    const std::lock_guard held(guard_);
    to.push_back(&done);
}

tag_channel::slot& tag_channel::take_send_slot() {
    if (!validate_) return send_slots_.front();
    slot& taken = take(free_sends_);
    taken.number = next_send_++;
    send_memory_.fill(taken.index, pattern(outgoing_stream(on_), taken.number));
    return taken;
}

ucs_status_ptr_t tag_channel::post_send(const slot& with, const ucp_request_param_t& param) {
    void* buffer = send_memory_.buffer(with.index);
    const std::size_t count = send_memory_.count();
    return setup_.sync ? ucp_tag_send_sync_nbx(on_.ep, buffer, count, tag_, &param)
                       : ucp_tag_send_nbx(on_.ep, buffer, count, tag_, &param);
}

void tag_channel::send() {
    slot& with = take_send_slot();
    send_param_.user_data = &with;
    sends_.started();
    ucs_status_ptr_t request = post_send(with, send_param_);
    if (UCS_PTR_IS_PTR(request)) return;
    check("send", UCS_PTR_STATUS(request));
    if (validate_) give_back(free_sends_, with);
    sends_.ended_at_once();
    throw_if_failed();
}

void tag_channel::check(const char* what, ucs_status_t status) {
    if (status != UCS_OK) [[unlikely]] {
        fail(fmt::format("{} failed: {}", what, ucs_status_string(status)));
    }
}

void tag_channel::on_sent(void* request, ucs_status_t status, void* arg) {
    auto& of = *static_cast<slot*>(arg);
    tag_channel& channel = *of.channel;
    ucp_request_free(request);
    channel.check("send", status);
    if (channel.validate_) channel.give_back(channel.free_sends_, of);
    channel.sends_.ended_by_callback();  // last: the owner may be waiting to destroy the channel
}

void tag_channel::wait_for_arrival() {
    ucp_tag_recv_info_t info{};
    loop_.until([&] { return ucp_tag_probe_nb(on_.worker, tag_, mask_, 0, &info) != nullptr; });
}

void tag_channel::receive() {
    if (on_.params.unexpected) wait_for_arrival();
    slot* with = &recv_slots_.front();
    if (validate_) {
        with = &take(free_receives_);
        with->number = next_receive_++;
    }
    recv_param_.user_data = with;
    receives_.started();
    ucs_status_ptr_t request = ucp_tag_recv_nbx(on_.worker, recv_memory_.buffer(with->index),
                                                recv_memory_.count(), tag_, mask_, &recv_param_);
    if (!UCS_PTR_IS_PTR(request)) {
        check("receive", UCS_PTR_STATUS(request));
        receives_.ended_at_once();
    }
    throw_if_failed();
}

void tag_channel::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                              void* arg) {
    auto& of = *static_cast<slot*>(arg);
    tag_channel& channel = *of.channel;
    channel.check("receive", status);
    if (channel.validate_) {
        if (status == UCS_OK) channel.verify(of, *info);
        channel.give_back(channel.free_receives_, of);
    }
    ucp_request_free(request);
    channel.receives_.ended_by_callback();  // last: the owner may be waiting to destroy the channel
}

void tag_channel::verify(const slot& of, const ucp_tag_recv_info_t& info) {
    const std::size_t expected = on_.params.message_size();
    if (info.length != expected || info.sender_tag != tag_) {
        return fail(
            fmt::format("validation: message {} of thread {} came as {} bytes with tag "
                        "{:#x} where {} bytes with tag {:#x} were sent",
                        of.number, on_.thread, info.length, info.sender_tag, expected, tag_));
    }
    const pattern content(incoming_stream(on_), of.number);
    const auto wrong = recv_memory_.find_difference(of.index, content);
    if (!wrong) return;
    fail(fmt::format(
        "validation: message {} of thread {} is wrong at offset {} of {} "
        "(expected byte {:#04x})",
        of.number, on_.thread, *wrong, expected, std::to_integer<unsigned>(content.at(*wrong))));
}

void tag_channel::fail(std::string message) {
    const std::lock_guard held(guard_);
    if (failed_.load(std::memory_order_relaxed)) return;
    failure_ = std::move(message);
    failed_.store(true, std::memory_order_release);
}

void tag_channel::throw_failure() const {
    throw failure(failure_);
}

void tag_channel::finish(ucs_status_ptr_t request, const char* what) {
    ucs_status_t status = UCS_PTR_STATUS(request);
    if (UCS_PTR_IS_PTR(request)) {
        loop_.until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
        status = ucp_request_check_status(request);
        ucp_request_free(request);
    }
    if (status != UCS_OK) {
        throw failure(fmt::format("{} failed: {}", what, ucs_status_string(status)));
    }
}

void tag_channel::acknowledge() {
    const ucp_request_param_t param{};
    finish(ucp_tag_send_nbx(on_.ep, nullptr, 0, ack_tag_, &param), "sending the acknowledgement");
}

void tag_channel::wait_acknowledgement() {
    const ucp_request_param_t param{};
    finish(ucp_tag_recv_nbx(on_.worker, nullptr, 0, ack_tag_, every_bit, &param),
           "receiving the acknowledgement");
}

std::string tag_channel::describe_send() {
    std::string text;
    if (on_.part != side::initiator) receive();
    if (on_.part != side::responder) {
        const slot& with = take_send_slot();
        ucp_request_param_t param{};
        // The request must still be there to be asked.
        param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        param.datatype = send_memory_.datatype();
        ucs_status_ptr_t request = post_send(with, param);
        text = words_about(request);
        finish(request, "sending");
    }
    wait_receives(0);
    return text;
}

}  // namespace tools::perf
