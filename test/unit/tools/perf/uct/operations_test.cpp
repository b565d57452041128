#include "tools/perf/uct/operations.hpp"

#include <catch2/catch.hpp>

using namespace tools::perf;

namespace {

uct::iface_attr able() {
    uct::iface_attr attr;
    for (const uct::op one :
         {uct::op::am_short, uct::op::am_bcopy, uct::op::am_zcopy, uct::op::get_zcopy,
          uct::op::put_zcopy, uct::op::put_short, uct::op::put_bcopy, uct::op::get_bcopy})
        attr.ops.add(one);
    attr.max_short = 100;
    attr.max_bcopy = 1000;
    attr.max_zcopy = 10'000;
    attr.max_zcopy_header = 64;
    attr.max_rma = 100'000;
    attr.max_put_short = 200;
    attr.max_put_bcopy = 2000;
    attr.max_get_bcopy = 3000;
    return attr;
}

test_params sized(std::size_t size, std::optional<send_operation> operation = {}) {
    test_params params;
    params.pieces = {size};
    params.operation = operation;
    return params;
}

}  // namespace

TEST_CASE("a message fits an operation up to its limit, its header counted") {
    const auto fits = [](const test_params& params) {
        return mistake_in_messages(params, able()).empty();
    };
    CHECK(fits(sized(8)));
    CHECK_FALSE(fits(sized(7)));
    CHECK(fits(sized(108)));
    CHECK_FALSE(fits(sized(109)));
    CHECK(fits(sized(1000, send_operation::bcopy)));
    CHECK_FALSE(fits(sized(1001, send_operation::bcopy)));
    CHECK(fits(sized(10'000, send_operation::zcopy)));
    CHECK_FALSE(fits(sized(10'001, send_operation::zcopy)));
}

TEST_CASE("a header has a length that its operation supports") {
    test_params params = sized(500);
    params.header = 16;
    CHECK_THAT(mistake_in_messages(params, able()), Catch::StartsWith("-H"));
    params.operation = send_operation::zcopy;
    CHECK(mistake_in_messages(params, able()).empty());
    params.header = 65;
    CHECK_THAT(mistake_in_messages(params, able()), Catch::StartsWith("-H"));
    params.header = 501;
    CHECK_THAT(mistake_in_messages(params, able()), Catch::StartsWith("-s"));
}

TEST_CASE("an atomic operation fits words of 4 and 8 bytes that the transport has") {
    uct::iface_attr attr = able();
    attr.ops.add(uct::op::atomic);
    attr.atomics.words64.fetching.add(uct::atomic_kind::swap);
    attr.atomics.words32.posted.add(uct::atomic_kind::add);
    const auto swap = uct::atomic_kind::swap;
    const auto add = uct::atomic_kind::add;
    CHECK(mistake_in_atomic(sized(8), swap, true, attr).empty());
    CHECK(mistake_in_atomic(sized(8, send_operation::copied_short), swap, true, attr).empty());
    CHECK(mistake_in_atomic(sized(4), add, false, attr).empty());
    CHECK(mistake_in_atomic(sized(4), swap, true, attr) == "no fetching atomic swap of 4 bytes");
    CHECK(mistake_in_atomic(sized(8), add, false, attr) == "no atomic add of 8 bytes");
    CHECK_THAT(mistake_in_atomic(sized(16), swap, true, attr), Catch::StartsWith("-s"));
    CHECK_FALSE(mistake_in_atomic(sized(8, send_operation::zcopy), swap, true, attr).empty());
    test_params two_parts = sized(4);
    two_parts.pieces = {4, 4};
    CHECK_FALSE(mistake_in_atomic(two_parts, swap, true, attr).empty());
}

TEST_CASE("an unsupported operation is named") {
    uct::iface_attr attr = able();
    attr.ops = {};
    attr.ops.add(uct::op::am_short);
    CHECK(mistake_in_messages(sized(8), attr).empty());
    CHECK(mistake_in_messages(sized(8, send_operation::bcopy), attr) == "no am_bcopy");
    CHECK(mistake_in_memory_access(sized(8), remote_access::put, attr) == "no put_zcopy");
    CHECK(mistake_in_memory_access(sized(8), remote_access::get, attr) == "no get_zcopy");
    const auto in_layout = [&](send_operation layout, remote_access access) {
        return mistake_in_memory_access(sized(8, layout), access, attr);
    };
    CHECK(in_layout(send_operation::copied_short, remote_access::put) == "no put_short");
    CHECK(in_layout(send_operation::bcopy, remote_access::put) == "no put_bcopy");
    CHECK(in_layout(send_operation::bcopy, remote_access::get) == "no get_bcopy");
    CHECK_THAT(in_layout(send_operation::copied_short, remote_access::get),
               Catch::EndsWith("only -D bcopy and zcopy"));
}

TEST_CASE("memory is accessed in each layout up to its limit, at least one byte") {
    const auto fits = [](std::size_t size, std::optional<send_operation> layout,
                         remote_access access) {
        return mistake_in_memory_access(sized(size, layout), access, able()).empty();
    };
    for (const remote_access access : {remote_access::put, remote_access::get}) {
        CHECK(fits(8, {}, access));
        CHECK(fits(100'000, send_operation::zcopy, access));
        CHECK_FALSE(fits(100'001, {}, access));
        CHECK_FALSE(fits(0, {}, access));
        CHECK_FALSE(fits(0, send_operation::bcopy, access));
    }
    CHECK(fits(200, send_operation::copied_short, remote_access::put));
    CHECK_FALSE(fits(201, send_operation::copied_short, remote_access::put));
    CHECK_FALSE(fits(8, send_operation::copied_short, remote_access::get));
    CHECK(fits(2000, send_operation::bcopy, remote_access::put));
    CHECK_FALSE(fits(2001, send_operation::bcopy, remote_access::put));
    CHECK(fits(3000, send_operation::bcopy, remote_access::get));
    CHECK_FALSE(fits(3001, send_operation::bcopy, remote_access::get));
}
