#include "ucp/proto/selection.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace ucp;
using uct::op;

constexpr send_class plain{send_kind::tag, true};
constexpr send_class pieces{send_kind::tag, false};
constexpr send_class sync_send{send_kind::tag_sync, true};

// A host with shared memory of ordinary speed; tests change members before `table`.
struct lanes {
    uct::iface_attr am;
    uct::iface_attr rma;
    ucp::host_costs costs;
    ucp::config options;
    bool single_copy = true;

    lanes() {
        am.ops.add(op::am_short);
        am.ops.add(op::am_bcopy);
        am.max_short = 8000;
        am.max_bcopy = 8256;
        am.latency = 100e-9;
        am.overhead = 10e-9;
        am.bandwidth = 10e9;
        rma.ops.add(op::get_zcopy);
        rma.max_rma = std::size_t{1} << 30;
        rma.max_iov = 16;
        rma.latency = 400e-9;
        rma.bandwidth = 10e9;
        rma.overhead = 400e-9;
        costs.single_copy_works = true;
    }
    [[nodiscard]] ucp::protocol_table table() const {
        return ucp::protocol_table({&am, single_copy ? &rma : nullptr, &costs, &options, 8e9});
    }
};

}  // namespace

TEST_CASE("the chosen protocol can serve every size, and is the cheapest up to the tolerance") {
    lanes shape;
    const bool single_copy = GENERATE(true, false);
    shape.single_copy = single_copy;
    const ucp::protocol_table table = shape.table();
    const ucp::lane_set set{&shape.am, single_copy ? &shape.rma : nullptr, &shape.costs,
                            &shape.options, 8e9};
    for (const send_class send :
         {plain, pieces, sync_send, send_class{send_kind::tag_sync, false}}) {
        for (std::size_t length = 0; length < (std::size_t{1} << 32);
             length += 1 + length / 3 + length / 100) {
            INFO("kind " << static_cast<int>(send.kind) << ", contiguous " << send.contiguous
                         << ", " << length);
            const protocol& chosen = table.select(send, length);
            const ucp::estimate cost = chosen.probe(set, send, length);
            REQUIRE(cost.why_not == nullptr);
            REQUIRE(table.predict(send, length) == cost.seconds);
            for (const protocol* other : ucp::all_protocols()) {
                const ucp::estimate rival = other->probe(set, send, length);
                if (rival.why_not != nullptr) continue;
                // Between two samples the cost curves may cross twice, but they differ little
                // there.
                REQUIRE(cost.seconds <= rival.seconds * 1.10);
            }
        }
    }
}

TEST_CASE("small messages use eager/short, large ones are not copied") {
    const lanes shape;
    const ucp::protocol_table table = shape.table();
    CHECK(&table.select(plain, 0) == &ucp::eager_short);
    CHECK(&table.select(plain, 8) == &ucp::eager_short);
    CHECK(table.max_short() >= 8);
    CHECK(table.max_short() <= 8000);
    CHECK(table.select(plain, 64 << 20).rendezvous);
    CHECK(&table.select(pieces, 8) != &ucp::eager_short);
}

TEST_CASE("short messages are not longer than the transport allows") {
    lanes shape;
    shape.am.max_short = 40;
    CHECK(shape.table().max_short() <= 40);
    CHECK(shape.table().max_short() >= 8);
}

TEST_CASE("the user's threshold decides between eager and rendezvous") {
    lanes shape;
    const auto threshold = [&](std::size_t bytes) {
        shape.options.rndv_threshold.intra.bytes = bytes;
    };
    threshold(3000);
    {
        const ucp::protocol_table table = shape.table();
        CHECK_FALSE(table.select(plain, 2999).rendezvous);
        CHECK(table.select(plain, 3000).rendezvous);
        CHECK(table.max_short() == 2999);
    }
    threshold(0);
    CHECK(shape.table().select(plain, 1).rendezvous);
    threshold(ucs::config::memunits::inf);
    CHECK_FALSE(shape.table().select(plain, std::size_t{1} << 36).rendezvous);
    shape.options.rndv_threshold.inter.bytes = 3000;
    shape.am.reach = uct::scope::network;
    CHECK(shape.table().select(plain, 3000).rendezvous);
}

TEST_CASE("rendezvous without single copy streams") {
    lanes shape;
    shape.single_copy = false;
    const ucp::protocol_table table = shape.table();
    CHECK(&table.select(plain, std::size_t{1} << 30) == &ucp::rndv_stream);
}

TEST_CASE("the explanation shows the chosen protocols and the cost of the others") {
    lanes shape;
    shape.single_copy = false;
    const std::string page = shape.table().explain(UCP_FEATURE_TAG);
    INFO(page);
    for (const protocol* each : ucp::all_protocols())
        CHECK(page.find(each->name) != page.npos);
    CHECK(page.find("..inf") != page.npos);
    CHECK(page.find("predicted") != page.npos);
    CHECK(page.find("UCX_RNDV_THRESH overrides") == page.npos);
    shape.options.rndv_threshold.intra.bytes = 1000;
    CHECK(shape.table().explain(UCP_FEATURE_TAG).find("UCX_RNDV_THRESH overrides") != page.npos);
}
