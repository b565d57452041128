#include "test/sim/leftovers.hpp"

#include <fmt/format.h>

namespace sim_test {

std::string leftovers(ucp::worker& of, bool with_peers) {
    std::string text;
    const auto count = [&text](const char* what, std::size_t number) {
        if (number > 0) text += fmt::format("{} {}, ", number, what);
    };
    count("requests", of.requests().in_use());
    count("send ids", of.send_ids().size());
    count("receive ids", of.recv_ids().size());
    if (with_peers) {
        count("endpoints", of.endpoint_count());
        count("peers", of.peer_count());
    }
    count("posted receives", of.matcher().expected_count());
    count("stored messages", of.matcher().unexpected_count());
    count("half messages", of.assemblies().count());
    count("kept active messages", of.messages().kept_count());
    return text;
}

}  // namespace sim_test
