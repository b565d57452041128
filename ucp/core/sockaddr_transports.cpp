#include "ucp/core/sockaddr_transports.hpp"

#include <algorithm>
#include <string>

#include "ucs/config/option.hpp"

namespace ucp::cm {

namespace {

constexpr transport all[] = {transport::rdmacm, transport::tcp};

// Older versions of OpenUCX call tcp "sockcm".
bool means(std::string_view word, transport value) noexcept {
    return word == "all" || word == name(value) || (word == "sockcm" && value == transport::tcp);
}

ucs_status_t parse(std::string_view text, void* field) {
    ucs::config::names words;
    const ucs_status_t status =
        ucs::config::value_type_of<ucs::config::names>().parse(text, &words);
    if (status != UCS_OK || words.empty()) return UCS_ERR_INVALID_PARAM;
    std::vector<transport> order;
    for (const std::string& word : words) {
        bool known = false;
        for (const transport each : all) {
            if (!means(word, each)) continue;
            known = true;
            if (std::find(order.begin(), order.end(), each) == order.end()) order.push_back(each);
        }
        if (!known) return UCS_ERR_INVALID_PARAM;
    }
    static_cast<transport_list*>(field)->order = std::move(order);
    return UCS_OK;
}

std::string print(const void* field) {
    std::string text;
    for (const transport each : static_cast<const transport_list*>(field)->order)
        text.append(text.empty() ? "" : ",").append(name(each));
    return text;
}

}  // namespace

std::string_view name(transport value) noexcept {
    return value == transport::rdmacm ? "rdmacm" : "tcp";
}

std::vector<transport> transport_list::usable(bool has_rdma_devices) const {
    std::vector<transport> found = order;
    if (!has_rdma_devices) std::erase(found, transport::rdmacm);
    return found;
}

}  // namespace ucp::cm

namespace ucs::config {

template<>
const value_type& value_type_of<ucp::cm::transport_list>() {
    static constexpr value_type type{"rdmacm and tcp, or one of them, separated by a comma",
                                     ucp::cm::parse, ucp::cm::print};
    return type;
}

}  // namespace ucs::config
