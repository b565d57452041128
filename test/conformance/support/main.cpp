// Registers every case once per transport, then runs Catch2.
#define CATCH_CONFIG_RUNNER
#include "test/conformance/support/suite.hpp"

namespace conformance {

std::vector<suite_case>& suite() {
    static std::vector<suite_case> cases;
    return cases;
}

namespace {

class case_on_transport final : public Catch::ITestInvoker {
public:
    case_on_transport(transport_row where, suite_case what)
        : where_(std::move(where)), what_(what) {}

    void invoke() const override {
        const std::unique_ptr<environment> env = where_.make();
        network net(*env);
        try {
            what_.body(net);
        } catch (const std::exception& broken) {
            FAIL(broken.what());
        } catch (...) {
            // A failed REQUIRE: say what led to it before the report of the case is closed.
            if (const std::string story = env->report(); !story.empty()) WARN(story);
            throw;
        }
    }

private:
    const transport_row where_;
    const suite_case what_;
};

class left_out final : public Catch::ITestInvoker {
public:
    explicit left_out(std::string why) : why_(std::move(why)) {}
    void invoke() const override { WARN("the suite does not run on it: " << why_); }

private:
    const std::string why_;
};

void add(Catch::ITestInvoker* what, const std::string& name) {
    Catch::AutoReg(what, CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                   Catch::NameAndTags{Catch::StringRef(name), Catch::StringRef("[conformance]")});
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
    for (const conformance::transport_row& row : conformance::transport_table()) {
        if (!row.make) {
            conformance::add(new conformance::left_out(row.why_not), row.name + ": left out here");
            continue;
        }
        for (const conformance::suite_case& each : conformance::suite()) {
            conformance::add(new conformance::case_on_transport(row, each),
                             row.name + ": " + each.text);
        }
    }
    return Catch::Session().run(argc, argv);
}
