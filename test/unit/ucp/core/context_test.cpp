// Tests of a context's log lines about the transports and devices that the options name.
#include "ucp/core/context.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/core/listed_component.hpp"

namespace {

using ucp_test::listed_component;

constexpr auto network = uct::device_type::network;
constexpr auto memory = uct::device_type::shared_memory;

// eth0 works, ib0 is down; shared memory works.
struct scene {
    listed_component net{
        "tcp", {{{"tcp", "eth0", network}}, {{"tcp", "ib0", network, "interface is down"}}}};
    listed_component copies{"cma", {{{"cma", "memory", memory}}, {}}};
    listed_component rings{"posix", {{{"posix", "memory", memory}}, {}}};
    const uct::component* all[3] = {&net, &copies, &rings};
    test::log_capture log;

    ucs_status_t make(const char* transports, const char* devices) {
        ucs::config::source source = ucs::config::source::empty();
        source.set("HOST_PROBE", "n");
        source.set("TLS", transports);
        source.set("NET_DEVICES", devices);
        const auto made = ucp::context::create({}, std::move(source), all);
        return made.ok() ? UCS_OK : made.status();
    }
};

}  // namespace

TEST_CASE("a device that does not work is reported differently from one that does not exist") {
    scene in;
    SECTION("with another device") {
        CHECK(in.make("all", "eth0,ib0") == UCS_OK);
        CHECK(in.log.count("names 'ib0', which is left out: interface is down") == 1);
    }
    SECTION("alone") {
        CHECK(in.make("tcp", "ib0") == UCS_ERR_NO_DEVICE);
        CHECK(in.log.count("tcp/ib0: interface is down") == 1);
    }
    INFO(in.log.text());
    CHECK(in.log.count("does not exist") == 0);
    CHECK(in.log.count("", ucs::log::level::warn) == 1);
}

TEST_CASE("a device that does not work and was not requested is not logged") {
    scene in;
    const char* devices = GENERATE("all", "eth0", "^ib0", "^eth0");
    CHECK(in.make("all", devices) == UCS_OK);
    INFO(in.log.text());
    CHECK(in.log.count("", ucs::log::level::warn) == 0);
}

TEST_CASE("an unknown device is reported with the existing ones") {
    scene in;
    CHECK(in.make("all", "eth0,moon0") == UCS_OK);
    INFO(in.log.text());
    CHECK(in.log.count("names 'moon0', which does not exist here; there is: eth0, ib0") == 1);
}

TEST_CASE("a transport that only copies memory cannot connect, and the error says so") {
    scene in;
    CHECK(in.make("cma", "all") == UCS_ERR_NO_DEVICE);
    INFO(in.log.text());
    CHECK(in.log.count("no transport is usable: cma carries no messages by itself") == 1);
    in.log.clear();
    CHECK(in.make("self", "all") == UCS_ERR_NO_DEVICE);
    CHECK(in.log.count("carries no messages") == 0);
}

TEST_CASE("'^' inside a list is not taken for a name") {
    scene in;
    CHECK(in.make("tcp,^posix", "eth0") == UCS_OK);
    INFO(in.log.text());
    CHECK(in.log.count("UCX_TLS names '^posix': '^' counts only in front of the whole list") == 1);
    CHECK(in.log.count("", ucs::log::level::warn) == 1);
}

TEST_CASE("unknown devices are not reported if no transport uses devices") {
    scene in;
    CHECK(in.make("posix", "eth0") == UCS_OK);
    INFO(in.log.text());
    CHECK(in.log.count("", ucs::log::level::warn) == 0);
}

TEST_CASE("a context has the job's key, and an invalid key fails its creation") {
    scene in;
    const auto make = [&](const char* text) {
        ucs::config::source source = ucs::config::source::empty();
        source.set("HOST_PROBE", "n");
        source.set("JOB_KEY", text);
        return ucp::context::create({}, std::move(source), in.all);
    };
    const auto without = make("");
    REQUIRE(without.ok());
    CHECK((*without)->job_key() == nullptr);
    const auto with = make("a text that is long enough");
    REQUIRE(with.ok());
    REQUIRE((*with)->job_key() != nullptr);
    CHECK(*(*with)->job_key() == ucs::security::key::from_text("a text that is long enough"));
    CHECK(in.log.count("", ucs::log::level::warn) == 0);
    CHECK(make("short").status() == UCS_ERR_INVALID_PARAM);
    CHECK(in.log.count("UCX_JOB_KEY", ucs::log::level::error) == 1);
}
