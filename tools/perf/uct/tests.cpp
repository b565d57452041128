#include "tools/perf/uct/tests.hpp"

#include <fmt/format.h>

#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/core/supported_options.hpp"
#include "tools/perf/uct/am_channel.hpp"
#include "tools/perf/uct/operations.hpp"

namespace tools::perf {
namespace {

using flow = transport_am_channel::flow;

void require_memory_access(const test_params& params, remote_access access) {
    refuse_unsupported(params, {.transport = true, .protocol = false});
    const opened_interface opened = open_interface(params.transport, params.device);
    const std::string mistake = mistake_in_memory_access(params, access, opened.iface->attr());
    if (!mistake.empty()) throw not_offered(fmt::format("{}: {}", opened.name, mistake));
}

void require_atomic(const test_params& params, uct::atomic_kind kind, bool fetches) {
    refuse_unsupported(params, {.transport = true, .protocol = false});
    const opened_interface opened = open_interface(params.transport, params.device);
    const std::string mistake = mistake_in_atomic(params, kind, fetches, opened.iface->attr());
    if (!mistake.empty()) throw not_offered(fmt::format("{}: {}", opened.name, mistake));
}

}  // namespace

void check_transport_messages(const test_params& params) {
    refuse_unsupported(params, {.header = true, .transport = true, .protocol = false});
    const opened_interface opened = open_interface(params.transport, params.device);
    const std::string mistake = mistake_in_messages(params, opened.iface->attr());
    if (!mistake.empty()) throw not_offered(fmt::format("{}: {}", opened.name, mistake));
}

void check_transport_put(const test_params& params) {
    require_memory_access(params, remote_access::put);
}

void check_transport_get(const test_params& params) {
    require_memory_access(params, remote_access::get);
}

void check_transport_post(const test_params& params) {
    require_atomic(params, uct::atomic_kind::add, false);
}

void check_transport_fetch_add(const test_params& params) {
    require_atomic(params, uct::atomic_kind::add, true);
}

void check_transport_swap(const test_params& params) {
    require_atomic(params, uct::atomic_kind::swap, true);
}

void check_transport_compare_swap(const test_params& params) {
    require_atomic(params, uct::atomic_kind::cswap, true);
}

std::unique_ptr<workload> make_transport_am_latency(const transport_connection& conn) {
    return make_ping_pong<transport_am_channel>(conn, flow::free);
}

std::unique_ptr<workload> make_transport_am_bandwidth(const transport_connection& conn) {
    return make_one_way<transport_am_channel>(conn, flow::controlled);
}

std::string layout_name(const test_params& params) {
    const bool accesses_memory = params.test.starts_with("put_") || params.test.starts_with("get");
    switch (operation_of(params,
                         accesses_memory ? send_operation::zcopy : send_operation::copied_short)) {
        case send_operation::copied_short:
            return "short";
        case send_operation::bcopy:
            return "bcopy";
        case send_operation::zcopy:
            break;
    }
    return "zcopy";
}

}  // namespace tools::perf
