#include "uct/cuda/ipc/broker.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "test/cuda/driver_tests/program.hpp"
#include "test/unit/uct/cuda/support.hpp"
#include "ucs/descriptor/abstract_name.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "uct/cuda/ipc/broker_client.hpp"

namespace {

using namespace ucs::cuda;
using uct::cuda::broker;
using uct::cuda::export_name;
using uct::cuda::fetch_export;

constexpr std::size_t page = std::size_t{2} << 20U;

const driver_functions& driver() {
    const driver_functions* const started = start_driver();
    REQUIRE(started != nullptr);
    return *started;
}

std::vector<uct::cuda::exported_part> make_parts(std::size_t count) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    std::vector<uct::cuda::exported_part> parts;
    for (std::size_t i = 0; i < count; ++i) {
        CUmemGenericAllocationHandle made{};
        REQUIRE(driver().cuMemCreate(&made, page * (i + 1), &properties, 0) == CUDA_SUCCESS);
        parts.push_back({allocation_handle(driver(), made), page * (i + 1)});
    }
    return parts;
}

std::shared_ptr<broker> get_broker() {
    auto found = broker::get(driver());
    REQUIRE(found);
    return *found;
}

// Asks again if the broker's thread was not scheduled in time, as on a busy machine.
uct::cuda::broker_answer fetch_patiently(const export_name& name, std::uint64_t length) {
    uct::cuda::broker_answer answer;
    for (unsigned attempt = 0; attempt < 50 && answer.parts.empty(); ++attempt)
        answer = fetch_export(name, length);
    return answer;
}

// A process that connects and keeps silent.
ucs::unique_fd connect_silently(const export_name& name) {
    ucs::unique_fd socket = ucs::sys::make_local_socket();
    const ucs::sys::abstract_name address(uct::cuda::broker_socket, name.socket_id);
    if (::connect(socket.get(), address.get(), address.length()) != 0) socket.reset();
    return socket;
}

}  // namespace

TEST_CASE("the broker passes on all parts of an export to those who know its secret") {
    const auto owner = get_broker();
    const auto made = owner->add(make_parts(3));
    const auto fetched = fetch_patiently(made.name, 6 * page);
    INFO(fetched.problem);
    REQUIRE(fetched.parts.size() == 3);
    CHECK(fetched.parts[1].length == 2 * page);
    CHECK(fetched.parts[1].descriptor);
    const test::log_capture log;
    for (std::size_t i = 0; i < 3; ++i) {
        export_name wrong = made.name;
        if (i == 0) ++wrong.number;
        if (i == 1) wrong.secret[15] ^= std::byte{1};
        if (i == 2) ++wrong.socket_id;
        CHECK(fetch_export(wrong, 6 * page).parts.empty());
    }
    CHECK(fetch_export(made.name, 5 * page).parts.empty());
    CHECK(fetch_export(made.name, 7 * page).parts.empty());
}

TEST_CASE("an export that the driver refuses once is passed on the next time") {
    const auto owner = get_broker();
    const auto made = owner->add(make_parts(2));
    for (const unsigned nth : {1U, 2U}) {
        const test::log_capture log;
        standin_fail("cuMemExportToShareableHandle", nth, CUDA_ERROR_OUT_OF_MEMORY);
        CHECK(fetch_export(made.name, 3 * page).parts.empty());
        standin_clear_faults();
        CHECK(fetch_patiently(made.name, 3 * page).parts.size() == 2);
    }
}

TEST_CASE("an export ends with its keeper, and the broker with its last user") {
    auto owner = get_broker();
    auto made = owner->add(make_parts(1));
    CHECK(owner->exports() == 1);
    const std::weak_ptr<broker> known = owner;
    owner.reset();
    CHECK(get_broker() == known.lock());
    const export_name name = made.name;
    made.keeper.reset();
    CHECK(known.expired());
    CHECK(fetch_export(name, page).parts.empty());
    CHECK(standin_live("allocation handle") == 0);
}

TEST_CASE("the same allocations have one name") {
    const auto owner = get_broker();
    auto parts = make_parts(1);
    const CUmemGenericAllocationHandle handle = parts[0].handle.get();
    const auto first = owner->add(std::move(parts));
    const auto other = owner->add(make_parts(1));
    CHECK(first.name.number != other.name.number);
    CHECK(first.name.secret != other.name.secret);
    // The same handle, of which the export holds the only reference.
    std::vector<uct::cuda::exported_part> again;
    again.push_back({allocation_handle(driver(), handle), page});
    const auto second = owner->add(std::move(again));
    CHECK(second.name == first.name);
    CHECK(owner->exports() == 2);
}

TEST_CASE("processes that keep silent or send garbage do not keep others from the broker") {
    const auto owner = get_broker();
    const auto made = owner->add(make_parts(1));
    const test::log_capture log;
    std::vector<ucs::unique_fd> silent;
    for (unsigned i = 0; i < 400; ++i) {
        silent.push_back(connect_silently(made.name));
        if (i % 3 == 0 && silent.back()) {
            const test::bytes garbage = test::pattern(i % 90, i);
            ::send(silent.back().get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
        }
    }
    std::vector<std::thread> askers;
    std::atomic<unsigned> served{0};
    for (unsigned i = 0; i < 8; ++i)
        askers.emplace_back([&] { served += fetch_patiently(made.name, page).parts.size() == 1; });
    for (std::thread& each : askers)
        each.join();
    CHECK(served == 8);
}

TEST_CASE("program of another user that asks the broker", "[.program]") {
    constexpr uid_t nobody = 65534;
    const auto name = standin::receive<export_name>(standin::own_channel());
    REQUIRE(::setresuid(nobody, nobody, nobody) == 0);
    const auto answer = fetch_export(name, page);
    CHECK(answer.parts.empty());
    CHECK(answer.problem == "another user listens on its socket");
    // The broker refuses such a process even if it does not check.
    const ucs::unique_fd socket = connect_silently(name);
    REQUIRE(socket);
    const uct::cuda::broker_request request{.number = name.number, .secret = name.secret};
    static_cast<void>(::send(socket.get(), &request, sizeof request, MSG_NOSIGNAL));
    char byte = 0;
    const auto flags = ::fcntl(socket.get(), F_GETFL);
    REQUIRE(::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK) == 0);
    CHECK(::recv(socket.get(), &byte, 1, 0) <= 0);
}

TEST_CASE("the broker serves processes of the same user only") {
    if (::geteuid() != 0) {
        WARN("only root may become another user");
        return;
    }
    const auto owner = get_broker();
    const auto made = owner->add(make_parts(1));
    const test::log_capture log;
    standin::program stranger("program of another user that asks the broker");
    standin::send(stranger.channel(), made.name);
    const auto ended = stranger.wait();
    INFO(ended.output);
    CHECK(ended.status == 0);
}
