// Memory runs out at every allocation in the life of two workers that exchange messages.
#include <algorithm>
#include <string_view>

#include "test/integration/exhaustion/allocations.hpp"
#include "test/integration/exhaustion/context.hpp"
#include "test/integration/exhaustion/session.hpp"

namespace {

using namespace exhaustion;

owned_context make_context(const char* scheme) {
    log_file::instance();
    ucp_config_t* config = nullptr;
    REQUIRE(ucp_config_read(nullptr, nullptr, &config) == UCS_OK);
    REQUIRE(ucp_config_modify(config, "HOST_PROBE", "n") == UCS_OK);
    REQUIRE(ucp_config_modify(config, "RNDV_THRESH", "100000") == UCS_OK);
    REQUIRE(ucp_config_modify(config, "RNDV_SCHEME", scheme) == UCS_OK);
    owned_context context = exhaustion::make_context(UCP_FEATURE_TAG, config);
    ucp_config_release(config);
    return context;
}

void short_messages(session& with) {
    with.connect();
    with.expect_then_send(8);
    with.expect_then_send(300);
    with.send_then_expect(8);
    with.send_then_expect(300);
    with.send_then_probe(8);
    with.send_then_probe(300);
    with.expect_then_send(8, true);
    with.send_then_expect(300, true);
    with.use_many_masks();
    with.cancel_a_receive();
    with.flush();
    with.close();
}

void long_messages(session& with) {
    with.connect();
    with.expect_then_send(60'000);
    with.send_then_expect(60'000);
    with.send_then_probe(60'000);
    with.expect_then_send(60'000, true);
    with.send_then_expect(60'000, true);
    with.expect_then_send(300'000);
    with.send_then_expect(300'000);
    with.send_then_probe(300'000);
    with.close();
}

void fill_lane(session& with) {
    with.connect();
    with.expect_then_send(8);
    with.fill_lane();
}

// The operations of a session, while memory may run out and before.
struct scenario {
    void (*traffic)(session&);
    void (*before)(session&) = [](session&) {};
    std::size_t canceled = 0;  // operations that end with an error in any case
};

struct outcome {
    std::size_t allocations = 0;
    std::size_t failed = 0;
    std::size_t running = 0;
    bool silent = false;
    bool corrupted = false;
    std::size_t leaked = 0;
    int descriptors = 0;  // not closed
    ucs_status_t odd = UCS_OK;
};

// This function must not allocate, because its allocations would be counted.
outcome run(ucp_context_h context, const scenario& plan, failing fails, std::size_t nth) {
    outcome result;
    log_file::instance().clear();
    const std::size_t before = exhaustion::live();
    const int next = exhaustion::next_descriptor();
    {
        session with(context);
        plan.before(with);
        exhaustion::arm(fails, nth);
        plan.traffic(with);
        result.allocations = exhaustion::disarm();
        with.settle();
        result.failed = with.failed() - std::min(with.failed(), plan.canceled);
        result.running = with.running();
        result.corrupted = with.corrupted();
        result.odd = with.odd_status();
        result.silent = log_file::instance().empty();
    }
    result.leaked = exhaustion::live() - before;
    result.descriptors = exhaustion::next_descriptor() - next;
    return result;
}

std::size_t count_in(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t offset = text.find(part); offset != text.npos;
         offset = text.find(part, offset + 1))
        ++found;
    return found;
}

// Returns the number of matching log lines.
std::size_t check(const scenario& plan, const char* scheme,
                  std::string_view said = "out of memory") {
    std::size_t times = 0;
    const owned_context context = make_context(scheme);
    for (const failing fails : {failing::once, failing::from_then_on}) {
        // The first run creates the objects that a process creates once.
        run(context.get(), plan, fails, ~std::size_t{0});
        for (std::size_t nth = 1;; ++nth) {
            const outcome got = run(context.get(), plan, fails, nth);
            const std::string log = log_file::instance().text();
            INFO("allocation " << nth << (fails == failing::once ? " fails" : " and all later fail")
                               << ", RNDV_SCHEME=" << scheme << ", log:\n"
                               << log);
            times += log.find(said) != log.npos ? 1U : 0U;
            CHECK_FALSE(got.corrupted);
            CHECK(got.odd == UCS_OK);
            CHECK(got.leaked == 0);
            CHECK(got.descriptors == 0);
            const bool unexplained = got.silent && got.failed + got.running > 0;
            CHECK_FALSE(unexplained);
            if (got.running == 0) CHECK(log.find("were not freed") == log.npos);
            if (got.allocations >= nth) continue;
            CHECK(got.running == 0);
            CHECK(got.failed == 0);
            break;
        }
    }
    return times;
}

}  // namespace

TEST_CASE("short messages without memory end with an error and a line in the log") {
    CHECK(check({.traffic = short_messages, .canceled = 1}, "auto") > 0);
}

TEST_CASE("long messages without memory end with an error and a line in the log") {
    CHECK(check({.traffic = long_messages}, "auto") > 0);
    CHECK(check({.traffic = long_messages}, "am") > 0);
}

TEST_CASE("replies that cannot be queued fail their connection") {
    const scenario replies{.traffic = [](session& with) { with.answer_through_full_lane(); },
                           .before = fill_lane};
    CHECK(check(replies, "auto", "a control message") > 0);
}

TEST_CASE("messages without memory are logged less and less often") {
    const owned_context context = make_context("auto");
    {
        session with(context.get());
        with.connect();
        with.expect_then_send(8);
        log_file::instance().clear();
        exhaustion::arm(failing::from_then_on, 1);
        with.send_unexpected(8, 120);
        exhaustion::disarm();
        // Later operations have memory again.
        exhaustion::arm(failing::once, ~std::size_t{0});
        with.send_then_expect(8);
        exhaustion::disarm();
        CHECK(with.failed() + with.running() == 0);
    }
    const std::string log = log_file::instance().text();
    INFO(log);
    // Logs the first eight failures, the tenth and the hundredth.
    const std::size_t lines = count_in(log, "was dropped");
    CHECK(lines > 0);
    CHECK(lines <= 10);
}

TEST_CASE("operations without memory are logged less and less often") {
    const owned_context context = make_context("auto");
    {
        session with(context.get());
        log_file::instance().clear();
        exhaustion::arm(failing::from_then_on, 1);
        with.expect_in_vain(8, 120);
        exhaustion::disarm();
        CHECK(with.failed() == 120);
        CHECK(with.odd_status() == UCS_OK);
    }
    const std::string log = log_file::instance().text();
    INFO(log);
    CHECK(count_in(log, "no request") == 10);
}
