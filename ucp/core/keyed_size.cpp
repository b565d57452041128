#include "ucp/core/keyed_size.hpp"

#include <algorithm>
#include <iterator>

#include "ucs/config/text.hpp"
#include "ucs/config/units.hpp"

namespace ucs::config {
namespace {

// Calls visit(key, size) for each part of the list; the key is empty for a size alone. Returns
// false as soon as a part is malformed or `visit` returns false.
template<class Visit>
bool visit_parts(std::string_view text, Visit&& visit) {
    const auto parts = split(text, ',');
    return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
        const std::size_t colon = part.find(':');
        const std::string_view key = colon == part.npos ? "" : trim(part.substr(0, colon));
        const auto bytes = parse_bytes(colon == part.npos ? part : part.substr(colon + 1));
        return bytes && (colon == part.npos || !key.empty()) && visit(key, memunits{*bytes});
    });
}

ucs_status_t parse_reach(std::string_view text, void* field) {
    ucp::reach_size sizes;
    const bool good = visit_parts(text, [&](std::string_view key, memunits size) {
        if (key.empty() || key == "intra") sizes.intra = size;
        if (key.empty() || key == "inter") sizes.inter = size;
        return key.empty() || key == "intra" || key == "inter";
    });
    if (!good) return UCS_ERR_INVALID_PARAM;
    *static_cast<ucp::reach_size*>(field) = sizes;
    return UCS_OK;
}

std::string print_reach(const void* field) {
    const auto& sizes = *static_cast<const ucp::reach_size*>(field);
    if (sizes.intra.bytes == sizes.inter.bytes) return print_bytes(sizes.intra.bytes);
    return "intra:" + print_bytes(sizes.intra.bytes) + ",inter:" + print_bytes(sizes.inter.bytes);
}

bool is_memory_type(std::string_view name) noexcept {
    static constexpr std::string_view names[] = {"host",    "cuda",         "cuda-managed",
                                                 "rocm",    "rocm-managed", "rdma",
                                                 "ze-host", "ze-device",    "ze-managed"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

ucs_status_t parse_host(std::string_view text, void* field) {
    ucp::host_size host;
    const bool good = visit_parts(text, [&](std::string_view key, memunits size) {
        if (key.empty() || key == "host") host.size = size;
        return size.bytes > 0 && (key.empty() || is_memory_type(key));
    });
    if (!good) return UCS_ERR_INVALID_PARAM;
    *static_cast<ucp::host_size*>(field) = host;
    return UCS_OK;
}

}  // namespace

template<>
const value_type& value_type_of<ucp::reach_size>() {
    static constexpr value_type type{
        "a number of bytes with an optional unit (8192, 8k, 1.5m, 2gb), inf or auto; or one for "
        "each: intra:8k,inter:64k",
        parse_reach, print_reach};
    return type;
}

template<>
const value_type& value_type_of<ucp::host_size>() {
    static constexpr value_type type{
        "a number of bytes above 0 with an optional unit (8192, 8k, 1.5m, 2gb), inf or auto; or a "
        "list by memory type, of which host counts: host:512K,cuda:4M",
        parse_host, [](const void* field) {
            return print_bytes(static_cast<const ucp::host_size*>(field)->size.bytes);
        }};
    return type;
}

}  // namespace ucs::config
