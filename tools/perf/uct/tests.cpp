#include "tools/perf/uct/tests.hpp"

#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/core/test_options.hpp"
#include "tools/perf/uct/operations.hpp"

namespace tools::perf {

void check_transport_test(
    const test_params& params,
    const std::function<std::string(const uct::iface_attr& attr)>& find_mistake,
    bool takes_header) {
    refuse_unsupported(params, {.header = takes_header, .transport = true, .protocol = false});
    const opened_interface opened = open_interface(params.transport, params.device);
    const std::string mistake = find_mistake(opened.iface->attr());
    if (!mistake.empty()) throw not_offered(fmt::format("{}: {}", opened.name, mistake));
}

std::span<const test_row> transport_message_tests() noexcept {
    using flow = transport_am_channel::flow;
    static constexpr auto check = [](const test_params& params) {
        const auto find_mistake = [&](const uct::iface_attr& attr) {
            return mistake_in_messages(params, attr);
        };
        check_transport_test(params, find_mistake, true);
    };
    static constexpr std::array<test_row, 2> rows{{
        {"am_lat", "active message latency", quantity::latency, 0, nullptr, check,
         &make_ping_pong<transport_am_channel, flow::free>},
        {"am_bw", "active message bandwidth / message rate", quantity::bandwidth, 0, nullptr, check,
         &make_one_way<transport_am_channel, flow::controlled>},
    }};
    return rows;
}

std::string layout_name(const test_params& params) {
    const bool accesses_memory = params.test.starts_with("put_") || params.test.starts_with("get");
    const send_operation usual =
        accesses_memory ? send_operation::zcopy : send_operation::copied_short;
    static constexpr const char* names[] = {"short", "bcopy", "zcopy"};
    return names[static_cast<std::size_t>(operation_of(params, usual))];
}

}  // namespace tools::perf
