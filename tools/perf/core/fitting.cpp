#include "tools/perf/core/fitting.hpp"

#include <fmt/format.h>

#include <string_view>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

void refuse(bool given, bool taken, std::string_view option, std::string_view meant_for,
            const test_params& params) {
    if (!given || taken) return;
    throw usage_error(fmt::format("{} is for {}, not for {}", option, meant_for, params.test));
}

}  // namespace

void refuse_others(const test_params& params, const taken_options& takes) {
    refuse(params.wildcard, takes.matching, "-C", "tag tests", params);
    refuse(params.unexpected, takes.matching, "-U", "tag tests", params);
    refuse(params.header.has_value(), takes.header, "-H", "active message tests", params);
    refuse(params.extra_copy, takes.extra_copy, "-y", "ucp_am tests", params);
    refuse(params.receive == receive_mode::recv_data, takes.receive_modes, "-r recv_data",
           "stream and ucp_am tests", params);
    refuse(params.memory_handles, takes.handles && takes.protocol, "-z",
           "messages, put and get of the protocol layer", params);
    constexpr std::string_view transport_tests = "tests of a transport";
    refuse(!params.transport.empty(), takes.transport, "-x", transport_tests, params);
    refuse(!params.device.empty(), takes.transport, "-d", transport_tests, params);
    refuse(params.operation.has_value(), takes.transport, "-D short, bcopy or zcopy",
           transport_tests, params);
    refuse(params.flow_window != test_params{}.flow_window, takes.transport, "-W", transport_tests,
           params);
    constexpr std::string_view protocol_tests = "tests of the protocol layer";
    const bool pieces = params.send_layout == layout::iov || params.recv_layout == layout::iov;
    refuse(params.threads > 1, takes.protocol, "-T", protocol_tests, params);
    refuse(params.threading != thread_mode::single, takes.protocol, "-M", protocol_tests, params);
    refuse(params.errors == error_handling::peer, takes.protocol, "-e", protocol_tests, params);
    refuse(pieces, takes.protocol, "-D iov", protocol_tests, params);
}

}  // namespace tools::perf
