// Tests that single copies are used only after the kernel has shown that the peer is the process
// which its address names.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "uct/base/builtin.hpp"
#include "uct/sm/base/address.hpp"
#include "uct/sm/base/host.hpp"

namespace {

using namespace ucp_test;
using bytes = std::vector<std::byte>;
using ucp::wireup::state;

bool cma_works_here() {
    return !uct::cma_component().query(ucs::config::source::empty()).usable.empty();
}

// The address with another process in its cma part.
bytes naming_process(const bytes& address, pid_t process) {
    auto changed = parsed(address);
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
        make_context({&uct::posix_component(), &uct::cma_component()}, {});
    std::unique_ptr<ucp::worker> near = make_worker(*context);
    std::unique_ptr<ucp::worker> far = make_worker(*context);

    // Connects `near` to `far` by this address of `far`.
    ucp::ep& connect(const bytes& address) const {
        ucp::ep& made = **ucp::wireup::create_ep(*near, address.data(), {});
        ucp::wireup::handle(made, ucp::wireup::event::use);
        while (ucp::wireup::state_of(made) == state::requested) {
            near->progress();
            far->progress();
        }
        REQUIRE(ucp::wireup::state_of(made) == state::ready);
        return made;
    }
};

}  // namespace

TEST_CASE("single copies are used once the kernel has shown the peer's process") {
    if (!cma_works_here()) return;
    const two_workers in;
    ucp::ep& made =
        **ucp::wireup::create_ep(*in.near, in.far->identity().address(false).data(), {});
    ucp::wireup::handle(made, ucp::wireup::event::use);
    CHECK(made.remote().lanes().rma() == nullptr);
    const ucp::ep& connected = in.connect(in.far->identity().address(false));
    CHECK(&connected.remote() == &made.remote());
    CHECK(made.remote().lanes().rma() != nullptr);
}

TEST_CASE("an address that names another process leads to no single copy") {
    if (!cma_works_here()) return;
    const two_workers in;
    const bytes address = naming_process(in.far->identity().address(false), ::getppid());
    ucp::ep& made = **ucp::wireup::create_ep(*in.near, address.data(), {});
    ucp::wireup::handle(made, ucp::wireup::event::use);
    CHECK(ucp::wireup::explain(made.remote()).find("it has not shown yet") != std::string::npos);
    ucp::slot_of<ucp::wireup::lane_setup>(made.remote())
        .learn_process({::getpid(), *ucs::sys::start_time(::getpid())});
    CHECK(made.remote().lanes().rma() == nullptr);
    CHECK(ucp::wireup::explain(made.remote()).find("rma (not used)") != std::string::npos);
}

TEST_CASE("single copies are not used for a peer whose process is unknown") {
    if (!cma_works_here()) return;
    raw_world in({}, {}, {&uct::cma_component()});
    in.peer_closes();
    in.close_by_force();
    in.settle();
    // The address names this process itself, with the worker's cookie: reading there would succeed.
    auto own = parsed(in.worker->identity().address(false));
    auto hostile = parsed(in.peer.address());
    for (const auto& entry : own.entries)
        if (entry.transport == "cma") hostile.entries.push_back(entry);
    REQUIRE(hostile.entries.size() == 2);
    const bytes address = ucp::address::pack(hostile, false);
    in.deliver(ucp::wire::wireup_type::request, raw_world::peer_ep, 0, address);
    const auto replies = in.peer.connection_messages();
    const ucp::ep* const served = in.worker->endpoints().find(replies.back().ep);
    REQUIRE(served != nullptr);
    for (const auto& each : ucp::wireup::lanes_in_use(served->remote()))
        CHECK(each.where->transport != "cma");
    CHECK(ucp::wireup::explain(served->remote())
              .find("cma/memory: not used: it needs messages over posix") != std::string::npos);
}
