#include "uct/tcp/settings.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>

#include "ucs/config/text.hpp"

namespace ucs::config {

namespace {

using uct::tcp::address_families;
using uct::tcp::port_range;

bool read_port(std::string_view text, std::uint16_t& into) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc{} && end == text.data() + text.size();
}

ucs_status_t parse_ports(std::string_view text, void* field) {
    port_range ports;
    const std::size_t dash = text.find('-');
    const std::string_view last = dash == text.npos ? text : text.substr(dash + 1);
    const bool good = read_port(text.substr(0, dash), ports.first) && read_port(last, ports.last);
    if (!good || ports.first > ports.last) return UCS_ERR_INVALID_PARAM;
    if (ports.first == 0 && ports.last != 0) return UCS_ERR_INVALID_PARAM;
    *static_cast<port_range*>(field) = ports;
    return UCS_OK;
}

std::string print_ports(const void* field) {
    const auto& ports = *static_cast<const port_range*>(field);
    if (ports.first == ports.last) return std::to_string(ports.first);
    return std::to_string(ports.first) + "-" + std::to_string(ports.last);
}

ucs_status_t parse_families(std::string_view text, void* field) {
    std::vector<int> order;
    for (const std::string& name : split(text, ',')) {
        const int family = name == "inet" ? AF_INET : name == "inet6" ? AF_INET6 : AF_UNSPEC;
        if (family == AF_UNSPEC) return UCS_ERR_INVALID_PARAM;
        if (std::find(order.begin(), order.end(), family) == order.end()) order.push_back(family);
    }
    if (order.empty()) return UCS_ERR_INVALID_PARAM;
    static_cast<address_families*>(field)->order = std::move(order);
    return UCS_OK;
}

std::string print_families(const void* field) {
    std::string text;
    for (const int family : static_cast<const address_families*>(field)->order) {
        if (!text.empty()) text += ',';
        text += family == AF_INET ? "inet" : "inet6";
    }
    return text;
}

}  // namespace

template<>
const value_type& value_type_of<port_range>() {
    static constexpr value_type type{
        "a port or a range of ports, <first>-<last>, or 0 for any port", parse_ports, print_ports};
    return type;
}

template<>
const value_type& value_type_of<address_families>() {
    static constexpr value_type type{"inet, inet6 or both, separated by a comma", parse_families,
                                     print_families};
    return type;
}

}  // namespace ucs::config

namespace uct::tcp {

const ucs::config::table& settings::options() {
    using ucs::config::at_least;
    using ucs::config::between;
    using ucs::config::make_option;
    static const ucs::config::table table{
        "TCP transport",
        {
            make_option<&settings::tx_segment>(
                "TCP_TX_SEG_SIZE", "16k",
                "Longest message that is copied into a send buffer. Longer ones are sent without a "
                "copy. Rounded down to a multiple of 8; an address of any length fits "
                "the least.",
                between("2k", "1m").or_auto().or_limited()),
            make_option<&settings::rx_segment>(
                "TCP_RX_SEG_SIZE", "64k",
                "How much one read takes from a connection when no large message is in flight; at "
                "least two messages of TCP_TX_SEG_SIZE, so that one always fits.",
                between("1k", "16m").or_auto().or_limited()),
            make_option<&settings::max_zcopy>("TCP_MAX_ZCOPY", "1m",
                                              "Longest message that is sent without a copy; at "
                                              "least TCP_TX_SEG_SIZE.",
                                              between("2k", "8m")),
            make_option<&settings::max_pieces>(
                "TCP_MAX_IOV", "8", "Most pieces of memory that one message may be gathered from.",
                between("1", "16").or_limited()),
            make_option<&settings::send_buffer>("TCP_SNDBUF", "auto",
                                                "Size of the kernel's send buffer of a connection; "
                                                "auto is 160k on loopback and lets "
                                                "the kernel choose and adapt it elsewhere.",
                                                between("1k", "1g").or_auto().or_limited()),
            make_option<&settings::receive_buffer>(
                "TCP_RCVBUF", "auto",
                "Size of the kernel's receive buffer of a connection; auto lets the kernel choose "
                "and adapt it.",
                between("1k", "1g").or_auto().or_limited()),
            make_option<&settings::no_delay>(
                "TCP_NODELAY", "y",
                "Send small messages at once instead of waiting for more to fill a packet."),
            make_option<&settings::bind_source>(
                "TCP_EP_BIND_SRC_ADDR", "y",
                "Connect from the address of the interface, so that policy routing keeps the "
                "traffic on it. It does not reserve a port."),
            make_option<&settings::use_bridges>(
                "TCP_BRIDGE_ENABLE", "y",
                "Use bridge interfaces (docker0, virbr0). They rank below real ones either way."),
            make_option<&settings::ports>(
                "TCP_PORT_RANGE", "0",
                "Ports to listen on. One is picked at random; 0 lets the system choose."),
            make_option<&settings::families>(
                "TCP_AF_PRIO", "inet,inet6",
                "Address families to use, the preferred one first. A family left out is not used."),
            make_option<&settings::max_connect_attempts>(
                "TCP_MAX_CONN_RETRIES", "25",
                "How often a connection attempt that timed out or was cut off is repeated."),
            make_option<&settings::syn_count>("TCP_SYN_CNT", "auto",
                                              "How often the kernel repeats the first packet of a "
                                              "connection; auto or 0 leaves it to the kernel.",
                                              between("0", "127").or_auto().or_limited()),
            make_option<&settings::max_poll>("TCP_MAX_POLL", "16",
                                             "Most connections that one call of progress serves.",
                                             between("1", "64").or_limited()),
            make_option<&settings::connect_timeout>(
                "TCP_CONNECT_TIMEOUT", "10s",
                "How long one connection attempt may wait for the peer's host.", at_least("1ms")),
            make_option<&settings::greeting_timeout>(
                "TCP_HANDSHAKE_TIMEOUT", "10s",
                "How long a new connection may take to prove which peer it is.", at_least("1ms")),
            make_option<&settings::linger>(
                "TCP_LINGER", "1s",
                "How long closing an interface waits for peers to receive sent messages.",
                between("0", "1m")),
            make_option<&settings::keep_idle>(
                "TCP_KEEPIDLE", "10s",
                "Silence after which the kernel probes the peer's host, rounded up to seconds; "
                "inf: "
                "never; auto: the kernel's value.",
                between("1ms", "32767s").or_inf().or_auto().or_limited()),
            make_option<&settings::keep_interval>("TCP_KEEPINTVL", "2s",
                                                  "Time between two such probes, rounded up to "
                                                  "seconds; auto leaves it to the kernel.",
                                                  between("1ms", "32767s").or_auto().or_limited()),
            make_option<&settings::keep_count>(
                "TCP_KEEPCNT", "3",
                "Unanswered probes after which the connection is dead; auto "
                "or 0 leaves it to the kernel.",
                between("0", "127").or_auto().or_limited()),
        },
    };
    return table;
}

}  // namespace uct::tcp
