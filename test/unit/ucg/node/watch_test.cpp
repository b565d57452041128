// Tests of watching processes: the number of descriptors, and detection of a death by each watch.
#include "ucg/node/engine/watch.hpp"

#include <filesystem>
#include <iterator>

#include "test/support/child.hpp"
using ucg::node::watch;

namespace {

std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("watch: any number of groups watch a process by one descriptor", "[node]") {
    test::child_process other([](int) { ::pause(); });
    const pid_t pids[] = {::getpid(), other.pid()};
    const auto before = open_descriptors();
    {
        std::vector<watch> groups;
        for (int i = 0; i < 100; ++i)
            groups.emplace_back(pids);
        CHECK(open_descriptors() == before + 1);
        for (watch& each : groups)
            CHECK(!each.is_dead(1));
        other.kill();
        for (watch& each : groups)
            CHECK(each.is_dead(1));
        CHECK(!groups[0].is_dead(0));
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("watch: a process that ended before is dead from the start", "[node]") {
    test::child_process other([](int) { ::pause(); });
    const pid_t pids[] = {::getpid(), other.pid()};
    watch first(pids);
    other.kill();
    watch second(pids);
    CHECK(second.is_dead(1));
    CHECK(first.is_dead(1));
}
