// Registers each case with Catch2, once for each transport with the required features.
#include "test/conformance/support/suite.hpp"

namespace conformance {

std::vector<suite_case>& suite() {
    static std::vector<suite_case> cases;
    return cases;
}

unsigned offers(environment& where) {
    network net(where);
    const uct::iface_attr& attr = net.at(0).attr();
    const auto flag = [&attr](uct::op operation, unsigned need) {
        return attr.ops.has(operation) ? need : 0U;
    };
    unsigned all =
        flag(uct::op::am_short, needs::am_short | needs::messages | needs::copied_messages) |
        flag(uct::op::am_bcopy, needs::am_bcopy | needs::messages | needs::copied_messages) |
        flag(uct::op::am_zcopy, needs::am_zcopy | needs::messages) |
        flag(uct::op::get_zcopy, needs::get_zcopy) | flag(uct::op::put_zcopy, needs::put_zcopy) |
        flag(uct::op::atomic, needs::atomics) | flag(uct::op::put_short, needs::put_short) |
        flag(uct::op::put_bcopy, needs::put_bcopy) | flag(uct::op::get_bcopy, needs::get_bcopy);
    if (attr.atomics_of_processor) all |= needs::atomics_of_processor;
    if (attr.keyed) all |= needs::keyed;
    if (!where.reaches_only_itself()) all |= needs::two_sides;
    if (attr.supports_landing) all |= needs::landing;
    const bool any_rma = attr.ops.has(uct::op::get_zcopy) || attr.ops.has(uct::op::put_zcopy);
    if (any_rma && where.can_refuse_rma()) all |= needs::refused_memory;
    if (any_rma && where.checks_remote_memory()) all |= needs::checked_memory;
    if (net.at(0).arm() != UCS_ERR_UNSUPPORTED) all |= needs::sleep;
    return all;
}

namespace {

// A test case: one case of the suite on one transport.
class case_on_transport final : public Catch::ITestInvoker {
public:
    case_on_transport(transport_row where, suite_case test_case)
        : where_(std::move(where)), case_(test_case) {}

    void invoke() const override {
        const std::unique_ptr<environment> env = where_.make();
        network net(*env);
        try {
            case_.body(net);
        } catch (const std::exception& broken) {
            FAIL(broken.what());
        } catch (...) {
            // A REQUIRE has failed. The environment's report must be printed before Catch2 ends the
            // case.
            if (const std::string story = env->report(); !story.empty()) WARN(story);
            throw;
        }
    }

private:
    const transport_row where_;
    const suite_case case_;
};

// A test case that stands for a transport which cannot work here. It only prints the reason.
class left_out final : public Catch::ITestInvoker {
public:
    explicit left_out(std::string why) : why_(std::move(why)) {}
    void invoke() const override { WARN("the suite does not run on it: " << why_); }

private:
    const std::string why_;
};

void add(Catch::ITestInvoker* test, const std::string& name) {
    Catch::AutoReg(test, CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                   Catch::NameAndTags{Catch::StringRef(name), Catch::StringRef("[conformance]")});
}

}  // namespace

}  // namespace conformance

// Called by main (test/support/test_main.cpp) after all cases have added themselves.
void register_test_cases() {
    using namespace conformance;
    for (const transport_row& row : transport_table()) {
        if (!row.make) {
            add(new left_out(row.reason), row.name + ": left out here");
            continue;
        }
        const unsigned offered = offers(*row.make());
        for (const suite_case& each : suite()) {
            if ((each.required & ~offered) != 0) continue;
            add(new case_on_transport(row, each), row.name + ": " + each.text);
        }
    }
}
