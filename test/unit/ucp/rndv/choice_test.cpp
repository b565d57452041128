// Tests of the choice between registered memory and copies: if registration costs too much, data
// goes through registered buffers.
#include "ucp/rndv/choice.hpp"

#include "test/unit/ucp/support/paired_world.hpp"
#include "ucp/core/activity.hpp"

namespace {

using ucp::activity;
using ucp::capi::handle;
using namespace ucp_test;
using uct::sim::parameters;

constexpr std::size_t length = 100'000;

parameters with_registration_time(double seconds) {
    parameters params;
    params.paired.registration_time = seconds;
    params.ops.remove(uct::op::get_zcopy);  // no other transport accesses memory
    params.ops.remove(uct::op::put_zcopy);
    return params;
}

struct world : ucp_test::paired_world {
    world(std::uint64_t seed, double seconds, const settings& options)
        : paired_world(seed, with_registration_time(seconds), UCP_FEATURE_TAG, options),
          to(connect(0)) {}
    ~world() { workers.clear(); }

    // Passes one message and checks its data.
    void pass() {
        std::vector<std::byte> source(length);
        std::vector<std::byte> target(length);
        for (std::size_t i = 0; i < length; ++i)
            source[i] = static_cast<std::byte>(i * 7 + i / 251);
        completion_record sent, received;
        note(ucp_tag_send_nbx(to, source.data(), length, 1, sent.on_send()), sent);
        note(ucp_tag_recv_nbx(handle(*workers[1]), target.data(), length, 1, 1, received.on_recv()),
             received);
        const bool ended = driver.run_until([&] { return sent.times == 1 && received.times == 1; });
        INFO(driver.report());
        REQUIRE(ended);
        CHECK(sent.status == UCS_OK);
        CHECK(received.status == UCS_OK);
        CHECK(source == target);
    }
    [[nodiscard]] std::uint64_t count(activity event) const {
        return workers[1]->log().counted(event);
    }

    const ucp_ep_h to;
};

settings with_scheme(const char* scheme) {
    return {{"RNDV_THRESH", "1k"}, {"RNDV_SCHEME", scheme}};
}

}  // namespace

TEST_CASE("memory that costs nothing to register is never streamed") {
    world both(1, 0, with_scheme("auto"));
    for (int i = 0; i < 200; ++i)
        both.pass();
    CHECK(both.count(activity::streams) == 0);
    CHECK(both.count(activity::reads) + both.count(activity::writes) == 200);
}

TEST_CASE("memory that costs more to register than to copy goes through registered buffers") {
    world both(1, 1.0, with_scheme("auto"));
    for (int i = 0; i < 200; ++i)
        both.pass();
    CHECK(both.count(activity::streams) == 200);
}

TEST_CASE("a configured scheme is used whatever registration costs") {
    for (const double price : {0.0, 1.0}) {
        world read(1, price, with_scheme("get_zcopy"));
        read.pass();
        CHECK(read.count(activity::reads) == 1);
        for (const char* const scheme : {"put_zcopy", "put_ppln"}) {
            world written(1, price, with_scheme(scheme));
            written.pass();
            CHECK(written.count(activity::writes) == 1);
        }
    }
}
