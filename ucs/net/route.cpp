#include "ucs/net/route.hpp"

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/log/log.hpp"
#include "ucs/net/socket.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/random/seeded.hpp"
#include "ucs/sys/process.hpp"

namespace ucs::net {

namespace {

constinit log::component self{"ucs.net"};

constexpr std::size_t longest_reply = 4096;

struct request {
    nlmsghdr head;
    rtmsg body;
    std::array<std::byte, 3 * (sizeof(rtattr) + 16)> attributes;
};

void add(request& to, unsigned short type, std::span<const std::byte> value) noexcept {
    const std::size_t offset = NLMSG_ALIGN(to.head.nlmsg_len);
    rtattr attribute{};
    attribute.rta_type = type;
    attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(value.size()));
    auto* destination = reinterpret_cast<std::byte*>(&to) + offset;
    std::memcpy(destination, &attribute, sizeof attribute);
    std::memcpy(destination + RTA_LENGTH(0), value.data(), value.size());
    to.head.nlmsg_len = static_cast<std::uint32_t>(offset + RTA_ALIGN(attribute.rta_len));
}

route from_message(const rtmsg* body, std::size_t length) {
    route found;
    found.type = body->rtm_type == RTN_LOCAL     ? route::kind::local
                 : body->rtm_type == RTN_UNICAST ? route::kind::forward
                                                 : route::kind::none;
    if (found.type == route::kind::none) found.error = "it is not a unicast address";
    auto rest = static_cast<unsigned>(length - NLMSG_LENGTH(sizeof *body));
    for (const rtattr* attribute = RTM_RTA(const_cast<rtmsg*>(body)); RTA_OK(attribute, rest);
         attribute = RTA_NEXT(const_cast<rtattr*>(attribute), rest)) {
        if (attribute->rta_type != RTA_OIF || RTA_PAYLOAD(attribute) < sizeof(std::uint32_t))
            continue;
        std::memcpy(&found.interface_index, RTA_DATA(const_cast<rtattr*>(attribute)),
                    sizeof found.interface_index);
    }
    std::array<char, IF_NAMESIZE> name{};
    if (::if_indextoname(found.interface_index, name.data()) != nullptr) {
        found.interface_name = name.data();
    }
    return found;
}

}  // namespace

route kernel_routes::find(const ip_address& source, const ip_address& target,
                          std::uint32_t through) {
    if (!open() || !request_route(source, target, through)) return {.type = route::kind::unknown};
    return read_reply();
}

bool kernel_routes::open() noexcept {
    if (netlink_) return true;
    netlink_ =
        sys::within_budget(unique_fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)));
    if (!netlink_) {
        log::diag(self, "socket(AF_NETLINK): {}; routes are not checked", error_text(errno));
    }
    return static_cast<bool>(netlink_);
}

bool kernel_routes::request_route(const ip_address& source, const ip_address& target,
                                  std::uint32_t through) noexcept {
    request query{};
    query.head.nlmsg_len = NLMSG_LENGTH(sizeof query.body);
    query.head.nlmsg_type = RTM_GETROUTE;
    query.head.nlmsg_flags = NLM_F_REQUEST;
    query.head.nlmsg_seq = ++sequence_;
    query.body.rtm_family = static_cast<unsigned char>(target.family());
    query.body.rtm_dst_len = static_cast<unsigned char>(8 * target.bytes().size());
    add(query, RTA_DST, target.bytes());
    if (!source.is_none()) {
        query.body.rtm_src_len = query.body.rtm_dst_len;
        add(query, RTA_SRC, source.bytes());
    }
    if (through != 0) {
        add(query, RTA_OIF, std::as_bytes(std::span(&through, 1)));
        // Ask for the matching entry of the routing table. Without this flag, the kernel reports
        // every target as directly reachable when a request names an interface.
        query.body.rtm_flags = RTM_F_FIB_MATCH;
    }
    const ssize_t sent = ::send(netlink_.get(), &query, query.head.nlmsg_len, 0);
    if (sent == static_cast<ssize_t>(query.head.nlmsg_len)) return true;
    log::diag(self, "RTM_GETROUTE to {}: {}; the route is not checked", target.text(),
              error_text(errno));
    return false;
}

route kernel_routes::read_reply() const {
    alignas(nlmsghdr) std::array<std::byte, longest_reply> bytes;
    // The kernel replies within send(), so this does not wait.
    const ssize_t got = ::recv(netlink_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    const auto* head = reinterpret_cast<const nlmsghdr*>(bytes.data());
    if (got < 0 || !NLMSG_OK(head, static_cast<std::size_t>(got)) || head->nlmsg_seq != sequence_) {
        return {.type = route::kind::unknown};
    }
    if (head->nlmsg_type == NLMSG_ERROR && head->nlmsg_len >= NLMSG_LENGTH(sizeof(nlmsgerr))) {
        nlmsgerr error{};
        std::memcpy(&error, NLMSG_DATA(head), sizeof error);
        return {.type = route::kind::none, .error = error_text(-error.error)};
    }
    if (head->nlmsg_type != RTM_NEWROUTE || head->nlmsg_len < NLMSG_LENGTH(sizeof(rtmsg))) {
        return {.type = route::kind::unknown};
    }
    route found = from_message(static_cast<const rtmsg*>(NLMSG_DATA(head)), head->nlmsg_len);
    if (found.type == route::kind::forward && !has_carrier(found.interface_name)) {
        found.type = route::kind::none;
        found.error = found.interface_name + " has no carrier";
    }
    return found;
}

// The kernel keeps routes over an interface without a link, where a connection attempt would only
// time out.
bool kernel_routes::has_carrier(const std::string& interface) const noexcept {
    ifreq query{};
    interface.copy(query.ifr_name, sizeof query.ifr_name - 1);
    // The driver knows the state at once; the flags of the interface follow up to a second later.
    ethtool_value link{};
    link.cmd = ETHTOOL_GLINK;
    query.ifr_data = reinterpret_cast<char*>(&link);
    if (::ioctl(netlink_.get(), SIOCETHTOOL, &query) == 0) return link.data != 0;
    if (::ioctl(netlink_.get(), SIOCGIFFLAGS, &query) != 0)
        return true;  // the connection attempt will tell
    return (query.ifr_flags & IFF_RUNNING) != 0;
}

std::uint64_t network_identity() noexcept {
    return sys::mix(sys::host_id() ^ sys::mix(sys::net_namespace()));
}

}  // namespace ucs::net
