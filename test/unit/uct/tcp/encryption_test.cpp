// Unit tests: encrypted connections between workers, and data that was changed in transit.
#include "test/support/log_capture.hpp"
#include "test/unit/uct/tcp/fixture.hpp"
#include "uct/tcp/data/encrypted_stream.hpp"

using namespace tcp_test;
using ucs::security::key;

namespace {

const key job = key::from_text("the key of the job");

struct encrypted_pair {
    worker a{"TCP_ENCRYPTION", "y", &job};
    worker b{"TCP_ENCRYPTION", "y", &job};
    std::unique_ptr<uct::ep> there = a.connect(b.address());
    std::unique_ptr<uct::ep> back = b.connect(a.address());
};

bytes pattern(std::size_t length, unsigned seed) {
    bytes made(length);
    for (std::size_t i = 0; i < length; ++i)
        made[i] = std::byte((i * 31 + seed) & 0xff);
    return made;
}

}  // namespace

TEST_CASE(
    "messages of all sizes go over an encrypted connection, in order and in both directions") {
    encrypted_pair pair;
    std::vector<bytes> messages;
    for (const std::size_t length : {0U, 1U, 7U, 8U, 1000U, 4000U})
        messages.push_back(pattern(length, static_cast<unsigned>(messages.size())));
    for (auto& [from, via, to] :
         {std::tie(pair.a, pair.there, pair.b), std::tie(pair.b, pair.back, pair.a)}) {
        for (unsigned round = 0; round < 50; ++round) {
            const bytes& payload = messages[round % messages.size()];
            // Clang 14 does not capture a structured binding.
            auto& lane = *via;
            ucs_status_t status = UCS_ERR_NO_RESOURCE;
            REQUIRE(run({&pair.a, &pair.b}, [&] {
                status = lane.am_short(1, round, payload.data(), payload.size());
                return status != UCS_ERR_NO_RESOURCE;
            }));
            REQUIRE(status == UCS_OK);
        }
        worker& receiver = to;
        REQUIRE(run({&pair.a, &pair.b}, [&] { return receiver.inbox.size() == 50; }));
        for (unsigned round = 0; round < 50; ++round) {
            const bytes& payload = messages[round % messages.size()];
            REQUIRE(number_of(receiver.inbox[round]) == round);
            REQUIRE(receiver.inbox[round].substr(8) ==
                    std::string(reinterpret_cast<const char*>(payload.data()), payload.size()));
        }
    }
    CHECK(pair.a.failures.empty());
    CHECK(pair.b.failures.empty());
}

TEST_CASE("an interface does not encrypt without a key") {
    const test::log_capture log;
    auto config = ucs::config::source::empty();
    config.set("TCP_ENCRYPTION", "y");
    const auto events = std::move(*ucs::async::event_loop::create());
    const auto opened = uct::tcp_component().open(
        {.transport = "tcp", .device = "lo", .type = uct::device_type::network},
        {.events = *events, .config = config, .worker_uid = 1});
    CHECK(opened.status() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("needs a job key") == 1);
}

TEST_CASE("an encrypted connection with bytes that the peer did not send is closed") {
    const test::log_capture log;
    worker a("TCP_ENCRYPTION", "y", &job);
    hand_made_peer peer(&job, true);
    const auto via = a.connect(peer.address());
    CHECK(send(*via, 1) == UCS_ERR_NO_RESOURCE);
    const ucs::unique_fd fd = peer.let_in(a);
    // A header and a record that no key decrypts.
    const bytes forged = filled(uct::tcp::encrypted::header_size, 0x11);
    hand_made_peer::send_all(fd.get(), forged);
    bytes record = filled(4 + 40, 0x22);
    const std::uint32_t length = 40;
    std::memcpy(record.data(), &length, sizeof length);
    hand_made_peer::send_all(fd.get(), record);
    REQUIRE(run({&a}, [&] { return !a.failures.empty(); }));
    CHECK(a.failures == std::vector{UCS_ERR_CONNECTION_RESET});
    CHECK(log.count("was changed in transit") == 1);
    CHECK(a.inbox.empty());
}
