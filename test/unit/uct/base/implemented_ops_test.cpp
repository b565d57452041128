#include "uct/base/implemented_ops.hpp"

#include <catch2/catch.hpp>

#include "uct/sim/ep.hpp"

namespace {

struct none : uct::ep {
    void pending_add(uct::pending_request&) override {}
    void pending_remove(uct::pending_request&) override {}
    void pending_purge(void (*)(uct::pending_request&, void*), void*) override {}
    std::string peer_name() const override { return "nobody"; }
};

struct only_short : none {
    ucs_status_t am_short(uct::am_id, std::uint64_t, const void*, std::size_t) override {
        return UCS_OK;
    }
};

struct short_and_get final : only_short {
    ucs_status_t get_zcopy(std::span<const uct::iov>, const uct::remote_place&,
                           uct::completion*) override {
        return UCS_OK;
    }
};

}  // namespace

TEST_CASE("implemented_ops has a flag for each operation that a class or its base overrides") {
    CHECK(uct::implemented_ops<none>().bits == 0);
    CHECK(uct::implemented_ops<only_short>().bits == static_cast<std::uint32_t>(uct::op::am_short));
    CHECK(uct::implemented_ops<short_and_get>().has(uct::op::am_short));
    CHECK(uct::implemented_ops<short_and_get>().has(uct::op::get_zcopy));
    CHECK_FALSE(uct::implemented_ops<short_and_get>().has(uct::op::put_zcopy));
    CHECK(uct::implemented_ops<uct::sim::sim_ep>().bits == uct::sim::every_op);
}

TEST_CASE("an operation that a class does not override is unsupported") {
    none ep;
    CHECK(ep.am_short(0, 0, nullptr, 0) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.am_bcopy(0, nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.am_zcopy(0, {}, {}, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.get_zcopy({}, {0}, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.put_zcopy({}, {0}, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.put_short(nullptr, 0, {0}) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.put_bcopy(nullptr, nullptr, {0}) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.get_bcopy(nullptr, 0, {0}, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.atomic({}, {0}, nullptr, nullptr) == UCS_ERR_UNSUPPORTED);
    CHECK(ep.flush(nullptr) == UCS_OK);
}
