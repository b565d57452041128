#include "tools/ucg_perf/report.hpp"

#include <algorithm>

#include "tools/ucg_perf/buffers.hpp"

namespace tools::ucg_perf {
namespace {

double percentile(const std::vector<double>& ordered, double percent) {
    const double rank = std::ceil(percent / 100 * static_cast<double>(ordered.size()));
    return ordered[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double microseconds(double seconds) noexcept {
    return seconds * 1e6;
}

// GB/s (10^9 bytes) at the median time.
double algorithm_rate(const result_row& result) noexcept {
    return result.times.median > 0
               ? static_cast<double>(result.total_elements) / result.times.median / 1e9
               : 0;
}

std::string verdict(const options& opts, const result_row& result) {
    if (!opts.validate && !opts.validate_once) return "not compared";
    return result.correct ? "right" : "WRONG";
}

std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (const char each : text) {
        made += each;
        if (each == '"') made += each;
    }
    return made + '"';
}

const char* operation_name(const options& opts, ucg_coll_t collective) {
    return traits_of(collective).reduces ? ucg_op_name(opts.op) : "";
}

std::string csv_row(const options& opts, const result_row& result) {
    const double rate = algorithm_rate(result);
    return fmt::format(
        "{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.4f},{},{}\n",
        ucg_coll_name(result.collective), result.algorithm, result.bytes, result.ranks,
        ucg_type_name(opts.type), operation_name(opts, result.collective), result.iterations,
        microseconds(result.times.least), microseconds(result.times.median),
        microseconds(result.times.p95), microseconds(result.times.p99),
        microseconds(result.times.most), rate, rate * result.bus_factor, verdict(opts, result),
        quoted(result.reason));
}

}  // namespace

summary summarise(std::vector<double> times) {
    if (times.empty()) return {};
    std::sort(times.begin(), times.end());
    return {times.front(), percentile(times, 50), percentile(times, 95), percentile(times, 99),
            times.back()};
}

std::string header(const options& opts, const ucg_group_attr_t& group) {
    if (opts.quiet) return "";
    if (opts.standard.form == output_form::csv) {
        return "collective,algorithm,bytes,ranks,type,operation,iterations,min_us,median_us,p95_us,"
               "p99_us,max_us,algorithm_GBps,bus_GBps,result,reason\n";
    }
    return fmt::format(
        "# {} rank{} on {} node{}, {} {}, {}, {} under way, {} buffer{}{}{}\n"
        "{:<20} {:>12} {:>10} {:>11} {:>11} {:>11} {:>11} {:>11} {:>9} {:>9}  {}\n",
        group.size, group.size == 1 ? "" : "s", group.nodes, group.nodes == 1 ? "" : "s",
        ucg_type_name(opts.type), ucg_op_name(opts.op),
        opts.call_mode == mode::persistent ? "persistent requests" : "blocking calls",
        opts.in_flight, opts.buffers, opts.buffers == 1 ? "" : "s",
        opts.in_place ? ", in place" : "", opts.deterministic ? ", deterministic" : "",
        "collective", "bytes", "iterations", "min us", "median us", "p95 us", "p99 us", "max us",
        "alg GB/s", "bus GB/s", "algorithm");
}

std::string row(const options& opts, const result_row& result) {
    if (opts.standard.form == output_form::csv) return csv_row(opts, result);
    const double rate = algorithm_rate(result);
    std::string text = fmt::format(
        "{:<20} {:>12} {:>10} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>9.3f} {:>9.3f}  "
        "{}{}\n",
        ucg_coll_name(result.collective), result.bytes, result.iterations,
        microseconds(result.times.least), microseconds(result.times.median),
        microseconds(result.times.p95), microseconds(result.times.p99),
        microseconds(result.times.most), rate, rate * result.bus_factor, result.algorithm,
        opts.validate || opts.validate_once ? result.correct ? " (right)" : " (WRONG)" : "");
    if (opts.verbose) text += fmt::format("    {}: {}\n", result.algorithm, result.reason);
    return text;
}

void write_settings(json_writer& into, const options& opts, const ucg_group_attr_t& group) {
    into.member("ranks", group.size);
    into.member("nodes", group.nodes);
    into.member("type", ucg_type_name(opts.type));
    into.member("operation", ucg_op_name(opts.op));
    into.member("root", opts.root);
    into.member("calls", opts.call_mode == mode::persistent ? "persistent" : "blocking");
    into.member("in_flight", opts.in_flight);
    into.member("buffers", opts.buffers);
    into.member("in_place", opts.in_place);
    into.member("deterministic", opts.deterministic);
    into.member("timeout_s", opts.limit);
    into.member("ranks_started_here", opts.ranks);
    into.member("bound", opts.processors.has_value());
    into.begin_array("processors");
    for (const unsigned cpu : opts.processors.value_or(std::vector<unsigned>{}))
        into.element(cpu);
    into.end();
}

void write_row(json_writer& into, const options& opts, const result_row& row) {
    const double rate = algorithm_rate(row);
    into.member("collective", ucg_coll_name(row.collective));
    into.member("algorithm", row.algorithm);
    into.member("reason", row.reason);
    into.member("bytes", row.bytes);
    into.member("iterations", row.iterations);
    into.member("min_us", microseconds(row.times.least));
    into.member("median_us", microseconds(row.times.median));
    into.member("p95_us", microseconds(row.times.p95));
    into.member("p99_us", microseconds(row.times.p99));
    into.member("max_us", microseconds(row.times.most));
    into.member("algorithm_GBps", rate);
    into.member("bus_GBps", rate * row.bus_factor);
    into.member("result", verdict(opts, row));
}

}  // namespace tools::ucg_perf
