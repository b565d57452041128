#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <thread>

#include "test/unit/uct/tcp/fixture.hpp"
#include "uct/tcp/setup/route.hpp"

using namespace uct::tcp;

namespace {

// Runs `body` in an empty network namespace. Returns false if that is not permitted.
bool in_empty_network(const std::function<void()>& body) {
    bool entered = false;
    std::thread([&] {
        entered = ::unshare(CLONE_NEWNET) == 0;
        if (entered) body();
    }).join();
    if (!entered) WARN("skipped: a network namespace needs root");
    return entered;
}

void set_up(const char* name) {
    const ucs::unique_fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    ::ioctl(any.get(), SIOCGIFFLAGS, &request);
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    ::ioctl(any.get(), SIOCSIFFLAGS, &request);
}

ip_address ip(int a, int b, int c, int d) {
    return ip_address::v4(
        std::array<std::byte, 4>{std::byte(a), std::byte(b), std::byte(c), std::byte(d)});
}

}  // namespace

TEST_CASE("an interface that is down is listed with the reason") {
    uct::listing before;
    uct::listing after;
    if (!in_empty_network([&] {
            const auto config = ucs::config::source::empty();
            before = uct::tcp_component().query(config);
            set_up("lo");
            after = uct::tcp_component().query(config);
        })) {
        return;
    }
    CHECK(before.usable.empty());
    REQUIRE_FALSE(before.unusable.empty());
    CHECK(before.unusable[0].device == "lo");
    CHECK(before.unusable[0].reason == "interface is down");
    REQUIRE(after.usable.size() == 1);
    CHECK(after.usable[0].device == "lo");
}

TEST_CASE("the kernel's answer without any route is passed on") {
    route outside;
    route own;
    route outside_of_lo;
    route own_of_lo;
    if (!in_empty_network([&] {
            set_up("lo");
            ucs::net::kernel_routes routes;
            outside = routes.find(ip(127, 0, 0, 1), ip(10, 9, 8, 7), 0);
            own = routes.find(ip(127, 0, 0, 1), ip(127, 0, 0, 1), 0);
            // A lookup that names an interface must not report that the whole network is behind it.
            outside_of_lo = routes.find(ip(127, 0, 0, 1), ip(10, 9, 8, 7), ::if_nametoindex("lo"));
            own_of_lo = routes.find({}, ip(127, 0, 0, 1), ::if_nametoindex("lo"));
        })) {
        return;
    }
    CHECK(outside.type == route::kind::none);
    CHECK_FALSE(outside.error.empty());
    CHECK(own.type == route::kind::local);
    CHECK(outside_of_lo.type == route::kind::none);
    CHECK(own_of_lo.type == route::kind::local);
}
