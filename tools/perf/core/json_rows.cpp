#include "tools/perf/core/json_rows.hpp"

#include "tools/perf/core/test_options.hpp"

namespace tools::perf {
namespace {

void write_names(json_writer& into, std::string_view member,
                 const std::vector<std::string>& names) {
    into.begin_array(member);
    for (const std::string& each : names)
        into.element(each);
    into.end();
}

// Writes a value that is defined for a single thread only, otherwise null.
void write_single(json_writer& into, std::string_view name, bool single, double value) {
    if (single) {
        into.member(name, value);
    } else {
        into.member(name, nullptr);
    }
}

}  // namespace

void write_settings(json_writer& into, const program_options& options) {
    into.member("loopback", options.role == run_role::loopback);
    into.member("server", options.host);
    into.member("port", options.port);
    into.member("ipv6", options.ipv6);
    into.begin_array("processors");
    for (const unsigned cpu : options.cpus)
        into.element(cpu);
    into.end();
    write_names(into, "batch_files", options.batch);
}

void write_row(json_writer& into, const test_case& test, const measurement& result,
               const std::string& extra_info) {
    const bool single = test.params.threads == 1;
    write_names(into, "names", test.names);
    into.member("test", test.params.test);
    write_names(into, "options", to_words(test.params));
    into.member("message_size", test.params.message_size());
    into.member("threads", test.params.threads);
    into.member("iterations", result.iterations);
    into.member("percentile", test.params.rank);
    write_single(into, "percentile_us", single, result.percentile);
    write_single(into, "average_us", single, result.average);
    into.member("overall_us", result.overall);
    write_single(into, "average_MBps", single, result.average_bandwidth);
    into.member("overall_MBps", result.overall_bandwidth);
    write_single(into, "average_messages_per_s", single, result.average_rate);
    into.member("overall_messages_per_s", result.overall_rate);
    if (!extra_info.empty()) into.member("library_says", extra_info);
}

}  // namespace tools::perf
