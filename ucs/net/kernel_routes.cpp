#include "ucs/net/kernel_routes.hpp"

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "ucs/log/log.hpp"
#include "ucs/sys/descriptor_budget.hpp"

namespace ucs::net {

namespace {

constinit log::component self{"ucs.net"};

constexpr std::size_t longest_answer = 4096;

const char* error_text(int error) noexcept {
    const char* text = ::strerrordesc_np(error);
    return text == nullptr ? "unknown error" : text;
}

struct request {
    nlmsghdr head;
    rtmsg body;
    std::array<std::byte, 3 * (sizeof(rtattr) + 16)> attributes;
};

void add(request& to, unsigned short type, std::span<const std::byte> value) noexcept {
    const std::size_t at = NLMSG_ALIGN(to.head.nlmsg_len);
    rtattr attribute{};
    attribute.rta_type = type;
    attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(value.size()));
    auto* place = reinterpret_cast<std::byte*>(&to) + at;
    std::memcpy(place, &attribute, sizeof attribute);
    std::memcpy(place + RTA_LENGTH(0), value.data(), value.size());
    to.head.nlmsg_len = static_cast<std::uint32_t>(at + RTA_ALIGN(attribute.rta_len));
}

route from_message(const rtmsg* body, std::size_t length) {
    route found;
    found.type = body->rtm_type == RTN_LOCAL     ? route::kind::local
                 : body->rtm_type == RTN_UNICAST ? route::kind::forward
                                                 : route::kind::none;
    if (found.type == route::kind::none) found.error = "it is no unicast address";
    auto rest = static_cast<unsigned>(length - NLMSG_LENGTH(sizeof *body));
    for (const rtattr* at = RTM_RTA(const_cast<rtmsg*>(body)); RTA_OK(at, rest);
         at = RTA_NEXT(const_cast<rtattr*>(at), rest)) {
        if (at->rta_type != RTA_OIF || RTA_PAYLOAD(at) < sizeof(std::uint32_t)) continue;
        std::memcpy(&found.interface_index, RTA_DATA(const_cast<rtattr*>(at)),
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
    if (!open() || !ask(source, target, through)) return {.type = route::kind::unknown};
    return read_answer();
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

bool kernel_routes::ask(const ip_address& source, const ip_address& target,
                        std::uint32_t through) noexcept {
    request question{};
    question.head.nlmsg_len = NLMSG_LENGTH(sizeof question.body);
    question.head.nlmsg_type = RTM_GETROUTE;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.head.nlmsg_seq = ++sequence_;
    question.body.rtm_family = static_cast<unsigned char>(target.family());
    question.body.rtm_dst_len = static_cast<unsigned char>(8 * target.bytes().size());
    add(question, RTA_DST, target.bytes());
    if (!source.is_none()) {
        question.body.rtm_src_len = question.body.rtm_dst_len;
        add(question, RTA_SRC, source.bytes());
    }
    if (through != 0) {
        add(question, RTA_OIF, std::as_bytes(std::span(&through, 1)));
        // The entry of the table that fits: without one, who names an interface is told that
        // everybody is its neighbour.
        question.body.rtm_flags = RTM_F_FIB_MATCH;
    }
    const ssize_t sent = ::send(netlink_.get(), &question, question.head.nlmsg_len, 0);
    if (sent == static_cast<ssize_t>(question.head.nlmsg_len)) return true;
    log::diag(self, "RTM_GETROUTE to {}: {}; the route is not checked", target.text(),
              error_text(errno));
    return false;
}

route kernel_routes::read_answer() const {
    alignas(nlmsghdr) std::array<std::byte, longest_answer> bytes;
    // The kernel answers within send(), so nothing is waited for.
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

// The kernel keeps routes over an interface whose cable is out, and connecting waits there in vain.
bool kernel_routes::has_carrier(const std::string& interface) const noexcept {
    ifreq question{};
    interface.copy(question.ifr_name, sizeof question.ifr_name - 1);
    // The driver knows at once; the flags of the interface follow up to a second later.
    ethtool_value link{};
    link.cmd = ETHTOOL_GLINK;
    question.ifr_data = reinterpret_cast<char*>(&link);
    if (::ioctl(netlink_.get(), SIOCETHTOOL, &question) == 0) return link.data != 0;
    if (::ioctl(netlink_.get(), SIOCGIFFLAGS, &question) != 0) return true;  // connecting will show
    return (question.ifr_flags & IFF_RUNNING) != 0;
}

}  // namespace ucs::net
