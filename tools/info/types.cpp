#include <fmt/format.h>
#include <ucp/api/ucp.h>

#include "tools/info/pages.hpp"
#include "uct/api/iface.hpp"

namespace tools::info {
namespace {

void print_size(std::string_view name, std::size_t size) {
    const std::string label = fmt::format("sizeof({}) = ", name);
    fmt::print("    {:.<41} {}\n", label, size);
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a list
void print_types() {
    fmt::print("UCT:\n");
    print_size("uct::completion", sizeof(uct::completion));
    print_size("uct::pending_request", sizeof(uct::pending_request));
    print_size("uct::iface_attr", sizeof(uct::iface_attr));
    print_size("uct::am_handler", sizeof(uct::am_handler));
    fmt::print("\nUCP:\n");
    print_size("ucp_params_t", sizeof(ucp_params_t));
    print_size("ucp_context_attr_t", sizeof(ucp_context_attr_t));
    print_size("ucp_worker_params_t", sizeof(ucp_worker_params_t));
    print_size("ucp_worker_attr_t", sizeof(ucp_worker_attr_t));
    print_size("ucp_ep_params_t", sizeof(ucp_ep_params_t));
    print_size("ucp_ep_attr_t", sizeof(ucp_ep_attr_t));
    print_size("ucp_request_param_t", sizeof(ucp_request_param_t));
    print_size("ucp_request_attr_t", sizeof(ucp_request_attr_t));
    print_size("ucp_tag_recv_info_t", sizeof(ucp_tag_recv_info_t));
    print_size("ucp_generic_dt_ops_t", sizeof(ucp_generic_dt_ops_t));
    print_size("ucp_dt_iov_t", sizeof(ucp_dt_iov_t));
}

}  // namespace tools::info
