#include "tools/perf/core/supported_options.hpp"

#include <fmt/format.h>

#include <string_view>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

void refuse(bool given, bool is_accepted, std::string_view option, std::string_view meant_for,
            const test_params& params) {
    if (!given || is_accepted) return;
    throw usage_error(fmt::format("{} is for {}, not for {}", option, meant_for, params.test));
}

}  // namespace

void refuse_unsupported(const test_params& params, const accepted_options& accepted) {
    refuse(params.wildcard, accepted.matching, "-C", "tag tests", params);
    refuse(params.unexpected, accepted.matching, "-U", "tag tests", params);
    refuse(params.header.has_value(), accepted.header, "-H", "active message tests", params);
    refuse(params.extra_copy, accepted.extra_copy, "-y", "ucp_am tests", params);
    refuse(params.receive == receive_mode::recv_data, accepted.receive_modes, "-r recv_data",
           "stream and ucp_am tests", params);
    refuse(params.memory_handles, accepted.handles && accepted.protocol, "-z",
           "messages, put and get of the protocol layer", params);
    constexpr std::string_view transport_tests = "tests of a transport";
    refuse(!params.transport.empty(), accepted.transport, "-x", transport_tests, params);
    refuse(!params.device.empty(), accepted.transport, "-d", transport_tests, params);
    refuse(params.operation.has_value(), accepted.transport, "-D short, bcopy or zcopy",
           transport_tests, params);
    refuse(params.flow_window != test_params{}.flow_window, accepted.transport, "-W",
           transport_tests, params);
    constexpr std::string_view protocol_tests = "tests of the protocol layer";
    const bool pieces = params.send_layout == layout::iov || params.recv_layout == layout::iov;
    refuse(params.threads > 1, accepted.protocol, "-T", protocol_tests, params);
    refuse(params.threading != thread_mode::single, accepted.protocol, "-M", protocol_tests,
           params);
    refuse(params.errors == error_handling::peer, accepted.protocol, "-e", protocol_tests, params);
    refuse(pieces, accepted.protocol, "-D iov", protocol_tests, params);
}

}  // namespace tools::perf
