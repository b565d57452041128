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
}

}  // namespace tools::perf
