#include "tools/perf/ucp/stream_channel.hpp"

#include <fmt/format.h>

#include "tools/common/failure.hpp"

namespace tools::perf {

// Each endpoint has its own stream. With shared workers the order of creation decides which
// endpoints are connected, so contents must not depend on the thread.
stream_channel::stream_channel(const connection& conn, unsigned window)
    : ucp_channel(conn, window, 0),
      takes_pieces_(conn.params.receive == receive_mode::recv_data),
      sends_to_itself_(conn.part == side::both),
      message_size_(conn.params.message_size()) {
    recv_param_.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    recv_param_.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    recv_param_.cb.recv_stream = &stream_channel::on_received;
}

ucs_status_ptr_t stream_channel::post_send(const slot& message, const ucp_request_param_t& param) {
    return ucp_stream_send_nbx(conn_.ep, send_memory_.buffer(message.index), send_memory_.count(),
                               &param);
}

void stream_channel::receive() {
    if (takes_pieces_) {
        expected_bytes_ += message_size_;
        return;
    }
    slot& message = take_receive_slot();
    recv_param_.user_data = &message;
    receives_.started();
    std::size_t length = 0;
    ucs_status_ptr_t request = ucp_stream_recv_nbx(conn_.ep, recv_memory_.buffer(message.index),
                                                   recv_memory_.count(), &length, &recv_param_);
    if (!UCS_PTR_IS_PTR(request)) receive_ended(message, UCS_PTR_STATUS(request), length, false);
    throw_if_failed();
}

void stream_channel::on_received(void* request, ucs_status_t status, std::size_t length,
                                 void* arg) {
    auto& done = *static_cast<slot*>(arg);
    auto& self = static_cast<stream_channel&>(*done.owner);
    ucp_request_free(request);
    self.receive_ended(done, status, length, true);
}

void stream_channel::wait_sends(unsigned left) {
    if (takes_pieces_ && sends_to_itself_) {
        // The sender waits for the reader, which is this thread itself in loopback.
        loop_.until([&] {
            while (take_piece()) {
            }
            return sends_in_flight() <= left;
        });
    }
    ucp_channel::wait_sends(left);
}

void stream_channel::wait_receives(unsigned left) {
    if (!takes_pieces_) return ucp_channel::wait_receives(left);
    const std::uint64_t may_be_missing = message_size_ * left;
    const auto enough = [&] { return expected_bytes_ <= taken_bytes_ + may_be_missing; };
    while (!enough())
        loop_.until([this] { return take_piece(); });
    throw_if_failed();
}

bool stream_channel::take_piece() {
    std::size_t length = 0;
    ucs_status_ptr_t piece = ucp_stream_recv_data_nb(conn_.ep, &length);
    if (piece == nullptr) return false;
    if (UCS_PTR_IS_ERR(piece)) {
        throw failure(fmt::format("receive failed: {}", ucs_status_string(UCS_PTR_STATUS(piece))));
    }
    if (validates()) verify_piece({static_cast<const std::byte*>(piece), length});
    taken_bytes_ += length;
    ucp_stream_data_release(conn_.ep, piece);
    return true;
}

// A piece may hold parts of several messages.
void stream_channel::verify_piece(std::span<const std::byte> piece) {
    std::uint64_t position = taken_bytes_;
    while (!piece.empty()) {
        const std::uint64_t number = position / message_size_;
        const std::size_t offset = position % message_size_;
        const std::size_t length = std::min<std::size_t>(piece.size(), message_size_ - offset);
        const pattern content = incoming(number);
        const auto mismatch = content.find_difference(piece.first(length), offset);
        if (mismatch) return fail_mismatch(number, *mismatch, content);
        piece = piece.subspan(length);
        position += length;
    }
}

void stream_channel::acknowledge() {
    const std::byte nothing{};
    const ucp_request_param_t param{};
    finish(ucp_stream_send_nbx(conn_.ep, &nothing, sizeof nothing, &param),
           "sending the acknowledgement");
}

void stream_channel::wait_acknowledgement() {
    std::byte nothing{};
    std::size_t length = 0;
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    finish(ucp_stream_recv_nbx(conn_.ep, &nothing, sizeof nothing, &length, &param),
           "receiving the acknowledgement");
}

}  // namespace tools::perf
