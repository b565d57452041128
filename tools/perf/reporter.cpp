#include "tools/perf/reporter.hpp"

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

reporter::reporter(const program_options& options, std::size_t tests)
    : style_(options.style),
      counter_("ucx_perftest", tests, options.batch.empty() || style_.quiet) {
    if (style_.form != output_form::json) return;
    json_.emplace(run_conditions{"ucx_perftest", options.arguments, {loaded_libucp()}},
                  [&options](json_writer& into) { write_settings(into, options); });
}

void reporter::print(const std::string& text) {
    if (text.empty()) return;
    const std::lock_guard lock(printing_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void reporter::header(quantity measured, double rank, const std::vector<std::string>& batch_files) {
    print(table_header(style_, measured, rank, batch_files));
}

// The full table shows the position of the test in its title, so the row counter on stderr only
// counts.
void reporter::begin_test(const std::vector<std::string>& names) {
    if (style_.is_full_table()) {
        counter_.skip();
        print(batch_title(style_, names, counter_.place()));
    } else {
        counter_.next(fmt::format("{}", fmt::join(names, "/")));
    }
}

void reporter::progress(unsigned thread, const measurement& row) {
    print(progress_row(style_, thread, row));
}

void reporter::final(const test_case& test, const measurement& row, const std::string& extra_info) {
    counter_.clear();
    if (json_) {
        json_->add_row([&](json_writer& into) { write_row(into, test, row, extra_info); });
        return;
    }
    print(final_row(style_, test.params.threads, test.names, row, extra_info));
}

void reporter::finish() {
    if (json_) print(json_->finish());
}

void reporter::finish_after(const std::string& error) {
    counter_.clear();
    if (json_) print(json_->finish_after(error));
}

}  // namespace tools::perf
