// An endpoint of cma reaches the process that it is bound to, and no other with the same id.
#include "uct/sm/cma/cma_ep.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "test/support/virtual_time.hpp"
#include "uct/base/builtin.hpp"

using namespace uct;

namespace {

pid_t fork_sleeper() {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    return child;
}

void end(pid_t child) {
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
}

// A process that begins in a later clock tick than one of before, and has its id. 0: the system
// does not let this process choose.
pid_t fork_sleeper_with(pid_t id) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::ofstream last("/proc/sys/kernel/ns_last_pid");
        last << id - 1 << std::flush;
        if (!last) return 0;
        const pid_t child = fork_sleeper();
        if (child == id) return child;
        end(child);  // other processes were started meanwhile
    }
    return 0;
}

// Endpoint to this process itself, or to a child of it.
struct scene {
    scene() {
        auto opened = cma_component().open({"cma", "memory", device_type::shared_memory},
                                           {.events = *events, .config = config});
        REQUIRE(opened.ok());
        iface = std::move(*opened);
        lead_to(::getpid());
    }
    void lead_to(pid_t process) {
        sm::cma_address address;
        iface->pack_address(std::as_writable_bytes(std::span(&address, 1)));
        address.pid = static_cast<std::uint32_t>(process);
        auto made = iface->create_ep(std::as_bytes(std::span(&address, 1)));
        REQUIRE(made.ok());
        ep = std::move(*made);
    }
    ucs_status_t read() const {
        std::string into(5, ' ');
        const iov piece{into.data(), into.size()};
        const ucs_status_t status =
            ep->get_zcopy({&piece, 1}, {.address = reinterpret_cast<std::uint64_t>(text)}, nullptr);
        if (status == UCS_OK) CHECK(into == text);
        return status;
    }
    const char* text = "hello";
    const ucs::config::source config = ucs::config::source::empty();
    std::unique_ptr<ucs::async::event_loop> events = std::move(*ucs::async::event_loop::create());
    std::unique_ptr<uct::iface> iface;
    std::unique_ptr<uct::ep> ep;
};

bool cma_works_here() {
    return !cma_component().query(ucs::config::source::empty()).usable.empty();
}

}  // namespace

TEST_CASE("cma: an endpoint is bound to the process that its address names alone", "[cma]") {
    if (!cma_works_here()) return;
    const scene in;
    CHECK(in.iface->attr().claims_process);
    CHECK_FALSE(in.ep->bind_to({}));
    CHECK_FALSE(in.ep->bind_to({::getppid(), *ucs::sys::start_time(::getppid())}));
    REQUIRE(in.ep->bind_to({::getpid(), *ucs::sys::start_time(::getpid())}));
    CHECK(in.read() == UCS_OK);
    CHECK(in.read() == UCS_OK);
}

TEST_CASE("cma: a process that reuses the id of an ended one is not accessed", "[cma]") {
    if (!cma_works_here()) return;
    const test::virtual_time clock;
    scene in;
    // Children have the same memory, including the cookie, as if the peer had guessed it.
    pid_t child = fork_sleeper();
    in.lead_to(child);
    REQUIRE(in.ep->bind_to({child, *ucs::sys::start_time(child)}));
    CHECK(in.read() == UCS_OK);
    const pid_t id = child;
    end(child);
    if (!(child = fork_sleeper_with(id))) {
        WARN("skipped: process ids cannot be chosen here");
        return;
    }
    test::virtual_time::now += ucs::time::second;
    CHECK(in.read() == UCS_ERR_UNSUPPORTED);
    end(child);
    CHECK(in.read() == UCS_ERR_UNSUPPORTED);
}
