// Endpoints that a peer's requests make and nobody asks for.
#include "ucp/core/uninvited.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"

namespace {

using namespace ucp_test;
using ucp::wire::wireup_header;
using ucp::wire::wireup_type;

constexpr std::size_t most = ucp::uninvited_count::most_of_one;

struct asking_world : raw_world {
    asking_world() : raw_world({}) {}

    // The peer asks for one more endpoint. Returns what kind of answer it gets.
    wireup_type ask() {
        ++asked_;
        const std::uint64_t number =
            asks_apart ? ucp::peer::first_apart_number + 2 * asked_ : std::uint64_t{asked_};
        peer.send(ucp::wire::wireup,
                  wireup_header{
                      wireup_type::request, {}, peer.uid(), worker->uid(), asked_ + 100, number},
                  peer.address());
        settle();
        wireup_header answer{};
        std::memcpy(&answer, peer.last_received().data(), sizeof answer);
        CHECK(answer.peer_ep_or_number == asked_ + 100);
        return answer.type;
    }
    bool asks_apart = false;

private:
    std::uint64_t asked_ = 0;
};

}  // namespace

TEST_CASE("a peer makes a bounded number of endpoints that nobody asks for") {
    asking_world in;
    in.asks_apart = GENERATE(false, true);
    const test::log_capture log;
    const std::size_t before = in.worker->endpoint_count();
    for (std::size_t i = 0; i < most; ++i)
        REQUIRE(in.ask() == wireup_type::reply);
    CHECK(in.worker->endpoint_count() == before + most);
    CHECK(in.ask() == wireup_type::refuse);
    CHECK(in.worker->endpoint_count() == before + most);
    CHECK(log.count("asks for one endpoint too many") == 1);
    if (in.asks_apart) return;
    // The program asks for one of them.
    CHECK(in.make_ep() != nullptr);
    CHECK(in.worker->endpoint_count() == before + most);
    CHECK(in.ask() == wireup_type::reply);
    CHECK(in.ask() == wireup_type::refuse);
}

TEST_CASE("endpoints of all peers that nobody asks for take an eighth of memory") {
    constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;
    CHECK(ucp::uninvited_count::most_of_all(2 * gigabyte) == 131'072);
    CHECK(ucp::uninvited_count::most_of_all(64 * gigabyte) == 4'194'304);
    CHECK(ucp::uninvited_count::most_of_all(0) == most);
}
