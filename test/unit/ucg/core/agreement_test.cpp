// Tests of compared operations: their order of ending, and failures for want of memory.
#include "ucg/core/agreement.hpp"

#include <catch2/catch.hpp>
#include <new>
#include <vector>

#include "test/support/environment.hpp"
#include "test/unit/ucg/core/world.hpp"
#include "ucg/capi/handles.hpp"

namespace {

// An operation that does nothing; the test can make its comparison fail for want of memory.
class thrifty final : public ucg::request {
public:
    explicit thrifty(ucg::group& group)
        : request(group, 0, {}), operation_(group.fabric(), group.frames()) {
        operation_.init(nothing_);
        set_work(&operation_);
    }
    const char* name() const noexcept override { return "nothing"; }
    const char* algorithm() const noexcept override { return name(); }
    const char* reason() const noexcept override { return name(); }
    ucg::signature get_signature() const noexcept override { return {}; }
    ucg::shares get_shares() const override {
        if (poor) throw std::bad_alloc();
        return {};
    }

    bool poor = false;

private:
    class nothing final : public ucg::schedule::program {
        ucg::schedule::task run(ucg::schedule::member&) noexcept override { co_return; }
    };

    nothing nothing_;
    ucg::schedule::operation operation_;
};

// Events that callbacks recorded.
struct observer {
    struct listener {
        observer* owner;
        int which;
    };
    static void on_end(ucg_request_h request, ucs_status_t status, void* arg) {
        const listener& self = *static_cast<listener*>(arg);
        observer& owner = *self.owner;
        owner.order.push_back(self.which);
        CHECK(status == UCS_ERR_CANCELED);
        CHECK(ucg_request_test(request) == status);
        CHECK(ucg_request_test(owner.all.front()) != UCS_INPROGRESS);
    }

    std::vector<ucg_request_h> all;
    std::vector<int> order;
};

}  // namespace

// Before a fix, the rank took neither the number of the round nor that of the operation. The others
// waited for it, and from then on ranks waited for different operations.
TEST_CASE("an operation that cannot be compared for want of memory ends on all ranks") {
    const test::env check("UCG_CHECK", "y");
    test::world in({"a", "b"});
    thrifty first(ucg::capi::from(in.groups[0])), second(ucg::capi::from(in.groups[1]));
    const auto run = [&] {
        REQUIRE(first.start() == UCS_OK);
        REQUIRE(second.start() == UCS_OK);
        return in.run_until(
            [&] { return first.status() != UCS_INPROGRESS && second.status() != UCS_INPROGRESS; });
    };
    REQUIRE(run());
    CHECK(second.status() == UCS_OK);
    first.poor = true;
    CHECK(run());
    CHECK(first.status() == UCS_ERR_NO_MEMORY);
    CHECK(second.status() == UCS_ERR_NO_MEMORY);
    first.poor = false;
    CHECK(run());
    CHECK(first.status() == UCS_OK);
    CHECK(second.status() == UCS_OK);
}

// Before a fix, each operation began the next one before it had ended itself.
TEST_CASE("compared operations that end together do so one after the other") {
    const test::env check("UCG_CHECK", "y");
    test::world in({"a", "b"});
    observer seen;
    std::vector<observer::listener> listeners{{&seen, 0}, {&seen, 1}, {&seen, 2}};
    for (observer::listener& each : listeners) {
        ucg_coll_args_t args = test::barrier();
        args.callback = observer::on_end;
        args.callback_arg = &each;
        ucg_request_h made = nullptr;
        REQUIRE(ucg_request_init(in.groups[0], &args, &made) == UCS_OK);
        REQUIRE(ucg_request_start(made) == UCS_OK);
        seen.all.push_back(made);
    }
    for (auto each = seen.all.rbegin(); each != seen.all.rend(); ++each)
        CHECK(ucg_request_cancel(*each) == UCS_OK);
    CHECK(in.run_until([&] { return seen.order.size() == 3; }));
    CHECK(seen.order == std::vector<int>{0, 1, 2});
    for (const ucg_request_h each : seen.all)
        CHECK(ucg_request_free(each) == UCS_OK);
}
