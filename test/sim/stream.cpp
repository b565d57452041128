// The program's byte streams. Every byte follows from the stream and its place in it, and the first
// word names the stream: whoever reads it knows what must come.
#include <fmt/format.h>

#include <cstring>

#include "test/sim/process.hpp"
#include "ucp/capi/handles.hpp"

namespace sim_test {

using ucp::capi::handle;

namespace {

std::byte stream_byte(std::uint64_t source, std::size_t at) {
    if (at < sizeof source) return static_cast<std::byte>(source >> (8 * at));
    return static_cast<std::byte>((source * 31 + at * 7 + (at >> 8)) & 0xff);
}

}  // namespace

void process::write(endpoint_record& to) {
    // Nobody may ever read it: more than a window would wait for ever.
    constexpr std::size_t most = 150'000;
    const std::size_t length = std::min(some_size(), most - std::min(most, to.written));
    if (length == 0) return;
    operation_record& op = new_operation(what::write);
    op.endpoint = to.number;
    op.header.resize(length);
    for (std::size_t i = 0; i < length; ++i)
        op.header[i] = stream_byte(to.stream, to.written + i);
    to.written += length;
    const ucp_request_param_t param = prepare(op);
    started(op, ucp_stream_send_nbx(to.handle, op.header.data(), length, &param),
            (param.op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) != 0);
}

void process::read(endpoint_record& from) {
    std::vector<std::byte> into(all_.dice.between(1, 5000));
    std::size_t length = 0;
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
    const ucs_status_ptr_t result =
        ucp_stream_recv_nbx(from.handle, into.data(), into.size(), &length, &param);
    if (UCS_PTR_IS_ERR(result)) {
        const ucs_status_t status = UCS_PTR_STATUS(result);
        if (status != UCS_ERR_NO_RESOURCE && !all_.records.disturbed(number_) &&
            all_.plan.kind != profile::closing) {
            all_.records.violation(fmt::format("reading endpoint {} of worker {}: {}", from.number,
                                               number_, ucs_status_string(status)));
        }
        return;
    }
    for (std::size_t i = 0; i < length; ++i) {
        const std::size_t at = from.read++;
        if (at < sizeof from.source) {
            from.source |= std::to_integer<std::uint64_t>(into[i]) << (8 * at);
        } else if (into[i] != stream_byte(from.source, at)) {
            all_.records.violation(
                fmt::format("byte {} of stream {} is wrong at endpoint {} of "
                            "worker {}",
                            at, from.source, from.number, number_));
            return;
        }
    }
}

}  // namespace sim_test
