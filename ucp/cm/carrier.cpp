#include "ucp/cm/carrier.hpp"

#include <algorithm>
#include <string>

#include "ucs/config/option.hpp"

namespace ucp::cm {

namespace {

constexpr carrier all[] = {carrier::rdmacm, carrier::tcp};

// "sockcm" is what OpenUCX called tcp before.
bool means(std::string_view word, carrier which) noexcept {
    return word == "all" || word == name(which) || (word == "sockcm" && which == carrier::tcp);
}

ucs_status_t parse(std::string_view text, void* field) {
    ucs::config::names words;
    const ucs_status_t status =
        ucs::config::value_type_of<ucs::config::names>().parse(text, &words);
    if (status != UCS_OK || words.empty()) return UCS_ERR_INVALID_PARAM;
    std::vector<carrier> order;
    for (const std::string& word : words) {
        bool known = false;
        for (const carrier each : all) {
            if (!means(word, each)) continue;
            known = true;
            if (std::find(order.begin(), order.end(), each) == order.end()) order.push_back(each);
        }
        if (!known) return UCS_ERR_INVALID_PARAM;
    }
    static_cast<carrier_list*>(field)->order = std::move(order);
    return UCS_OK;
}

std::string print(const void* field) {
    std::string text;
    for (const carrier each : static_cast<const carrier_list*>(field)->order)
        text.append(text.empty() ? "" : ",").append(name(each));
    return text;
}

}  // namespace

std::string_view name(carrier which) noexcept {
    return which == carrier::rdmacm ? "rdmacm" : "tcp";
}

std::vector<carrier> carrier_list::usable(bool has_rdma_devices) const {
    std::vector<carrier> found = order;
    if (!has_rdma_devices) std::erase(found, carrier::rdmacm);
    return found;
}

}  // namespace ucp::cm

namespace ucs::config {

template<>
const value_type& value_type_of<ucp::cm::carrier_list>() {
    static constexpr value_type type{"rdmacm and tcp, or one of them, separated by a comma",
                                     ucp::cm::parse, ucp::cm::print};
    return type;
}

}  // namespace ucs::config
