#include "ucp/wireup/select.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

namespace {

namespace address = ucp::address;
namespace wireup = ucp::wireup;
using uct::op;

// An interface that reaches the addresses with a given first byte.
class fake_iface final : public uct::iface {
public:
    fake_iface(uct::iface_attr attr, std::uint8_t reaches) : attr_(attr), reaches_(reaches) {}

    const uct::iface_attr& attr() const noexcept override { return attr_; }
    unsigned progress() override { return 0; }
    bool has_work() const noexcept override { return false; }
    ucs_status_t arm() noexcept override { return UCS_OK; }
    void pack_address(std::span<std::byte>) const override {}
    uct::reachability check_reachable(std::span<const std::byte> address) const override {
        if (!address.empty() && address.front() == std::byte{reaches_}) return {};
        return {"it is on another network"};
    }
    ucs::result<std::unique_ptr<uct::ep>> create_ep(std::span<const std::byte>) override {
        return UCS_ERR_UNSUPPORTED;
    }
    void set_am_handler(uct::am_id, const uct::am_handler&) override {}
    void set_error_handler(const uct::error_handler&) override {}
    void describe(ucs::vfs::directory&) const override {}

private:
    const uct::iface_attr attr_;
    const std::uint8_t reaches_;
};

uct::iface_attr messages(double latency, double bandwidth) {
    uct::iface_attr attr;
    attr.ops.add(op::am_short);
    attr.ops.add(op::am_bcopy);
    attr.latency = latency;
    attr.bandwidth = bandwidth;
    return attr;
}

uct::iface_attr memory_only(uct::scope reach) {
    uct::iface_attr attr;
    attr.ops.add(op::get_zcopy);
    attr.reach = reach;
    return attr;
}

address::entry offer(std::string transport, std::uint8_t network) {
    address::entry made;
    made.transport = std::move(transport);
    made.device = "there";
    made.iface_address = {std::byte{network}, std::byte{42}};
    return made;
}

// Interfaces of the given transports with the devices "d0", "d1" and so on, and the lane selection
// among them.
struct setting {
    std::vector<std::unique_ptr<fake_iface>> ifaces;
    std::vector<wireup::local_interface> local;
    std::vector<std::string> names;
    address::worker_address remote;

    setting() { names.reserve(32); }
    void add(const char* transport, const uct::iface_attr& attr, std::uint8_t reaches = 1) {
        ifaces.push_back(std::make_unique<fake_iface>(attr, reaches));
        names.push_back("d" + std::to_string(local.size()));
        local.push_back({ifaces.back().get(), transport, names.back(), local.size(), UCS_OK});
    }
    [[nodiscard]] wireup::lane_selection select(std::size_t most_rails = 1) const {
        return wireup::select_lanes(local, remote, wireup::pairs::allowed, most_rails);
    }
};

bool has_note(const wireup::lane_selection& chosen, std::string_view begin, std::string_view part) {
    return std::any_of(chosen.notes.begin(), chosen.notes.end(), [&](const std::string& note) {
        return note.starts_with(begin) && note.find(part) != note.npos;
    });
}

}  // namespace

TEST_CASE("messages go over the lowest latency") {
    setting in;
    in.add("slow", messages(20e-6, 50e9));
    in.add("quick", messages(1e-6, 1e9));
    in.remote.entries = {offer("slow", 1), offer("quick", 1)};
    const auto chosen = in.select();
    REQUIRE(chosen.am);
    CHECK(chosen.am->resource == 1);
    CHECK(chosen.am->address == in.remote.entries[1].iface_address);
    CHECK_FALSE(chosen.rma);
    CHECK(has_note(chosen, "quick/d1: ", "lowest latency"));
    CHECK(has_note(chosen, "slow/d0: ", "20.00 us against 1.00"));
}

TEST_CASE("among equal latencies the higher bandwidth wins") {
    setting in;
    in.add("net", messages(1e-6, 1e9));
    in.add("net", messages(1e-6, 9e9));
    in.add("net", messages(1e-6, 3e9));
    in.remote.entries = {offer("net", 1)};
    CHECK(in.select().am->resource == 1);
}

TEST_CASE("an interface uses the first of the peer's entries that it reaches") {
    setting in;
    in.add("net", messages(1e-6, 1e9), 7);
    in.remote.entries = {offer("other", 7), offer("net", 3), offer("net", 7), offer("net", 7)};
    in.remote.entries[3].iface_address.push_back(std::byte{1});
    CHECK(in.select().am->address == in.remote.entries[2].iface_address);
}

TEST_CASE("an unreachable peer gets no lane, and a reason for each transport") {
    setting in;
    in.add("far", messages(1e-6, 1e9), 2);
    in.add("absent", messages(1e-6, 1e9));
    in.add("memory", memory_only(uct::scope::host));
    in.add("broken", messages(1e-6, 1e9));
    in.local[3].failure = UCS_ERR_CONNECTION_RESET;
    in.remote.entries = {offer("far", 1), offer("memory", 1), offer("broken", 1)};
    const auto chosen = in.select();
    CHECK_FALSE(chosen.am);
    CHECK_FALSE(chosen.rma);  // memory access alone makes no connection
    CHECK(has_note(chosen, "far/d0: not used", "another network"));
    CHECK(has_note(chosen, "absent/d1: not used", "does not offer"));
    CHECK(has_note(chosen, "broken/d3: not used", "failed: Connection reset"));
    CHECK(chosen.notes.size() == 4);
}

TEST_CASE("memory is accessed over the shortest path, in addition to the message lane") {
    setting in;
    in.add("net", messages(1e-6, 1e9));
    in.add("far", memory_only(uct::scope::network));
    in.add("near", memory_only(uct::scope::host));
    in.remote.entries = {offer("net", 1), offer("far", 1), offer("near", 1)};
    const auto chosen = in.select();
    CHECK(chosen.am->resource == 0);
    REQUIRE(chosen.rma);
    CHECK(chosen.rma->resource == 2);
    CHECK(has_note(chosen, "near/d2: ", "memory access"));
    CHECK(has_note(chosen, "far/d1: not used", "shorter way"));
}

TEST_CASE("access to a process that the address names needs messages that show the process") {
    setting in;
    uct::iface_attr rdma = messages(2e-6, 10e9);
    rdma.ops.add(op::get_zcopy);
    rdma.reach = uct::scope::network;
    rdma.keyed = true;
    in.add("rdma", rdma);
    uct::iface_attr named = memory_only(uct::scope::host);
    named.claims_process = true;
    in.add("named", named);
    in.remote.entries = {offer("rdma", 1), offer("named", 1)};
    const auto without = in.select();
    REQUIRE(without.rma);
    CHECK(without.rma->resource == 0);
    CHECK(has_note(without, "named/d1: not used", "prove the peer's process"));

    uct::iface_attr memory = messages(0.1e-6, 10e9);
    memory.shows_processes = true;
    in.add("memory", memory);
    in.remote.entries.push_back(offer("memory", 2));  // an address that is not reached
    CHECK(in.select().rma->resource == 0);
    in.remote.entries.back() = offer("memory", 1);
    const auto with = in.select();
    CHECK(with.am->resource == 2);
    CHECK(with.rma->resource == 1);
    CHECK(has_note(with, "named/d1: ", "memory access"));
}

TEST_CASE("one interface may serve messages and memory access") {
    setting in;
    uct::iface_attr attr = messages(1e-6, 1e9);
    attr.ops.add(op::get_zcopy);
    in.add("rdma", attr);
    in.remote.entries = {offer("rdma", 1)};
    const auto chosen = in.select();
    CHECK(chosen.am->resource == 0);
    CHECK(chosen.rma->resource == 0);
    CHECK(has_note(chosen, "rdma/d0: messages", "; memory access"));
}

TEST_CASE("an address without entries and a worker without interfaces") {
    setting in;
    CHECK_FALSE(in.select().am);
    in.add("net", messages(1e-6, 1e9));
    CHECK_FALSE(in.select().am);
    CHECK(in.select().notes.size() == 1);
}

namespace {

// A device with paired endpoints that access memory by keys.
uct::iface_attr keyed() {
    uct::iface_attr attr = messages(1e-6, 10e9);
    attr.ops.add(op::get_zcopy);
    attr.reach = uct::scope::network;
    attr.connection_length = 8;
    attr.keyed = true;
    return attr;
}

}  // namespace

TEST_CASE("rails lead from each device to one of the peer's own") {
    setting in;
    in.add("net", messages(20e-6, 1e9));
    for (int i = 0; i < 3; ++i)
        in.add("rdma", keyed());
    in.remote.entries = {offer("net", 1), offer("rdma", 1), offer("rdma", 1)};
    in.remote.entries[2].iface_address[1] = std::byte{43};
    const auto chosen = in.select(4);
    REQUIRE(chosen.paired);
    CHECK(chosen.am->resource == 1);
    CHECK(chosen.am->address == in.remote.entries[1].iface_address);
    REQUIRE(chosen.more_rails.size() == 1);  // the peer has two devices
    CHECK(chosen.more_rails[0].resource == 2);
    CHECK(chosen.more_rails[0].address == in.remote.entries[2].iface_address);
    CHECK(has_note(chosen, "rdma/d2: ", "another rail"));
    CHECK_FALSE(has_note(chosen, "rdma/d2: ", "not used"));
    CHECK(in.select(1).more_rails.empty());
}

TEST_CASE("a device that failed before or reaches another network is no rail") {
    setting in;
    in.add("net", messages(20e-6, 1e9));
    in.add("rdma", keyed());
    in.add("rdma", keyed(), 2);
    in.add("rdma", keyed());
    in.local.back().failure = UCS_ERR_ENDPOINT_TIMEOUT;
    in.remote.entries = {offer("net", 1), offer("rdma", 1), offer("rdma", 1)};
    in.remote.entries[2].iface_address[1] = std::byte{43};
    CHECK(in.select(4).more_rails.empty());
}

TEST_CASE("the device on the processor's own NUMA node is preferred, at both ends") {
    setting in;
    in.add("net", messages(1e-6, 9e9));
    in.add("net", messages(1e-6, 9e9));
    in.local.front().extra_latency = 0.1e-6;
    in.remote.entries = {offer("net", 1), offer("net", 1)};
    in.remote.entries[0].latency = 1.1e-6F;
    in.remote.entries[1].latency = 1e-6F;
    in.remote.entries[1].iface_address[1] = std::byte{43};
    const auto chosen = in.select();
    CHECK(chosen.am->resource == 1);
    CHECK(chosen.am->address == in.remote.entries[1].iface_address);
    CHECK(has_note(chosen, "net/d0: ", "1.10 us against 1.00"));
}

TEST_CASE("rails take near devices first, at both ends") {
    setting in;
    in.add("net", messages(20e-6, 1e9));
    for (int i = 0; i < 4; ++i)
        in.add("rdma", keyed());
    in.local[1].extra_latency = in.local[2].extra_latency = 0.1e-6;
    in.remote.entries = {offer("net", 1)};
    for (int i = 0; i < 4; ++i) {
        in.remote.entries.push_back(offer("rdma", 1));
        in.remote.entries.back().iface_address[1] = static_cast<std::byte>(43 + i);
        in.remote.entries.back().latency = i == 0 || i == 3 ? 1e-6F : 1.1e-6F;
    }
    const auto chosen = in.select(2);
    CHECK(chosen.am->resource == 3);
    CHECK(chosen.am->address == in.remote.entries[1].iface_address);
    REQUIRE(chosen.more_rails.size() == 1);
    CHECK(chosen.more_rails[0].resource == 4);
    CHECK(chosen.more_rails[0].address == in.remote.entries[4].iface_address);
}
