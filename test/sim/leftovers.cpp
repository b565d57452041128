#include "test/sim/leftovers.hpp"

#include <fmt/format.h>

#include "ucp/am/receiver.hpp"
#include "ucp/eager/assembler.hpp"
#include "ucp/proto/request_ids.hpp"
#include "ucp/tag/matcher.hpp"

namespace sim_test {

std::string leftovers(ucp::worker& worker, bool with_peers) {
    std::string text;
    const auto count = [&text](const char* name, std::size_t number) {
        if (number > 0) text += fmt::format("{} {}, ", number, name);
    };
    count("requests", worker.requests().in_use());
    count("send ids", ucp::slot_of<ucp::request_ids>(worker).sends.size());
    count("receive ids", ucp::slot_of<ucp::request_ids>(worker).receives.size());
    if (with_peers) {
        count("endpoints", worker.endpoints().size());
        count("peers", worker.peers().size());
    }
    count("posted receives", slot_of<ucp::tag_matcher>(worker).expected_count());
    count("stored messages", slot_of<ucp::tag_matcher>(worker).unexpected_count());
    count("half messages", slot_of<ucp::assembler>(worker).count());
    count("kept active messages", slot_of<ucp::am_receiver>(worker).kept_count());
    return text;
}

}  // namespace sim_test
