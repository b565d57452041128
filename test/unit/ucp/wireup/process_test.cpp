// Single copies reach the process that an address names only once the kernel has shown that the
// peer is that process.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "uct/sm/base/address.hpp"
#include "uct/sm/base/host.hpp"
#include "uct/sm/cma/cma_component.hpp"
#include "uct/sm/posix/posix_component.hpp"

namespace {

using namespace ucp_test;
using bytes = std::vector<std::byte>;
using ucp::wireup::state;

bool cma_works_here() {
    return !uct::cma::cma_component().query(ucs::config::source::empty()).usable.empty();
}

// The address with another process in its cma part.
bytes naming_process(const bytes& address, pid_t process) {
    auto changed = *ucp::address::parse(std::span<const std::byte>(address));
    for (auto& entry : changed.entries) {
        if (entry.transport != "cma") continue;
        uct::sm::cma_address part;
        REQUIRE(entry.iface_address.size() == sizeof part);
        std::memcpy(&part, entry.iface_address.data(), sizeof part);
        part.pid = static_cast<std::uint32_t>(process);
        std::memcpy(entry.iface_address.data(), &part, sizeof part);
    }
    return ucp::address::pack(changed, false);
}

// Two workers of this process that reach each other by shared memory and single copies.
struct two_workers {
    std::unique_ptr<ucp::context> context =
        make_context({&uct::posix::posix_component(), &uct::cma::cma_component()}, {});
    std::unique_ptr<ucp::worker> here = make_worker(*context);
    std::unique_ptr<ucp::worker> there = make_worker(*context);

    // `here` reaches `there` by this address of it.
    ucp::ep& connect(const bytes& address) const {
        ucp::ep& made = **here->create_ep(address.data(), {});
        made.handle(ucp::wireup::event::use);
        while (made.connection() == state::requested) {
            here->progress();
            there->progress();
        }
        REQUIRE(made.connection() == state::ready);
        return made;
    }
};

}  // namespace

TEST_CASE("single copies are used once the peer has shown which process it is") {
    if (!cma_works_here()) return;
    const two_workers in;
    ucp::ep& made = **in.here->create_ep(in.there->address(false).data(), {});
    made.handle(ucp::wireup::event::use);
    CHECK(made.remote().rma() == nullptr);
    const ucp::ep& connected = in.connect(in.there->address(false));
    CHECK(&connected.remote() == &made.remote());
    CHECK(made.remote().rma() != nullptr);
}

TEST_CASE("an address that names the process of somebody else leads to no single copy") {
    if (!cma_works_here()) return;
    const two_workers in;
    const bytes address = naming_process(in.there->address(false), ::getppid());
    ucp::ep& made = **in.here->create_ep(address.data(), {});
    made.handle(ucp::wireup::event::use);
    CHECK(made.remote().explain().find("it has not shown yet") != std::string::npos);
    made.remote().learn_process({::getpid(), *ucs::sys::start_time(::getpid())});
    CHECK(made.remote().rma() == nullptr);
    CHECK(made.remote().explain().find("rma (not used)") != std::string::npos);
}

TEST_CASE("a peer that shows no process is not reached by single copies") {
    if (!cma_works_here()) return;
    raw_world in({}, {}, {&uct::cma::cma_component()});
    in.peer_closes();
    in.close_by_force();
    in.settle();
    // This process itself, with the cookie of the worker: what is read there is all right.
    auto own = *ucp::address::parse(std::span<const std::byte>(in.worker->address(false)));
    auto hostile = *ucp::address::parse(std::span<const std::byte>(in.peer.address()));
    for (const auto& entry : own.entries)
        if (entry.transport == "cma") hostile.entries.push_back(entry);
    REQUIRE(hostile.entries.size() == 2);
    const bytes address = ucp::address::pack(hostile, false);
    in.peer.send(ucp::wire::wireup,
                 ucp::wire::wireup_header{ucp::wire::wireup_type::request,
                                          {},
                                          in.peer.uid(),
                                          in.worker->uid(),
                                          raw_world::peer_ep,
                                          0},
                 address);
    in.settle();
    const auto replies = in.peer.received<ucp::wire::wireup_header>(ucp::wire::wireup);
    const ucp::ep* const served = in.worker->find_ep(replies.back().ep);
    REQUIRE(served != nullptr);
    for (const auto& each : served->remote().lanes_in_use())
        CHECK(each.where->transport != "cma");
    CHECK(served->remote().explain().find("cma/memory: not used: it needs messages over posix") !=
          std::string::npos);
}
