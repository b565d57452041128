#include "tools/ucg_perf/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tools::ucg_perf {
namespace {

double percentile(const std::vector<double>& ordered, double percent) {
    const double rank = std::ceil(percent / 100 * static_cast<double>(ordered.size()));
    return ordered[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double microseconds(double seconds) noexcept {
    return seconds * 1e6;
}

// GB/s of the median, 10^9 bytes.
double algorithm_rate(const result_row& of) noexcept {
    return of.times.median > 0 ? static_cast<double>(of.whole) / of.times.median / 1e9 : 0;
}

std::string verdict(const options& by, const result_row& of) {
    if (!by.validate && !by.validate_once) return "not compared";
    return of.right ? "right" : "WRONG";
}

std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (const char each : text) {
        made += each;
        if (each == '"') made += each;
    }
    return made + '"';
}

const char* operation_name(const options& by, ucg_coll_t what) {
    return reduces(what) ? ucg_op_name(by.op) : "";
}

std::string csv_row(const options& by, const result_row& of) {
    const double rate = algorithm_rate(of);
    return fmt::format(
        "{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.4f},{},{}\n",
        ucg_coll_name(of.what), of.algorithm, of.bytes, of.ranks, ucg_type_name(by.type),
        operation_name(by, of.what), of.iterations, microseconds(of.times.least),
        microseconds(of.times.median), microseconds(of.times.p95), microseconds(of.times.p99),
        microseconds(of.times.most), rate, rate * of.bus_factor, verdict(by, of),
        quoted(of.reason));
}

}  // namespace

summary summarise(std::vector<double> times) {
    if (times.empty()) return {};
    std::sort(times.begin(), times.end());
    return {times.front(), percentile(times, 50), percentile(times, 95), percentile(times, 99),
            times.back()};
}

std::string header(const options& by, const ucg_group_attr_t& on) {
    if (by.quiet) return "";
    if (by.standard.form == output_form::csv) {
        return "collective,algorithm,bytes,ranks,type,operation,iterations,min_us,median_us,p95_us,"
               "p99_us,max_us,algorithm_GBps,bus_GBps,result,reason\n";
    }
    return fmt::format(
        "# {} rank{} on {} node{}, {} {}, {}, {} under way, {} buffer{}{}{}\n"
        "{:<20} {:>12} {:>10} {:>11} {:>11} {:>11} {:>11} {:>11} {:>9} {:>9}  {}\n",
        on.size, on.size == 1 ? "" : "s", on.nodes, on.nodes == 1 ? "" : "s",
        ucg_type_name(by.type), ucg_op_name(by.op),
        by.how == mode::persistent ? "persistent requests" : "blocking calls", by.in_flight,
        by.buffers, by.buffers == 1 ? "" : "s", by.in_place ? ", in place" : "",
        by.deterministic ? ", deterministic" : "", "collective", "bytes", "iterations", "min us",
        "median us", "p95 us", "p99 us", "max us", "alg GB/s", "bus GB/s", "algorithm");
}

std::string row(const options& by, const result_row& of) {
    if (by.standard.form == output_form::csv) return csv_row(by, of);
    const double rate = algorithm_rate(of);
    std::string text = fmt::format(
        "{:<20} {:>12} {:>10} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>11.2f} {:>9.3f} {:>9.3f}  "
        "{}{}\n",
        ucg_coll_name(of.what), of.bytes, of.iterations, microseconds(of.times.least),
        microseconds(of.times.median), microseconds(of.times.p95), microseconds(of.times.p99),
        microseconds(of.times.most), rate, rate * of.bus_factor, of.algorithm,
        by.validate || by.validate_once ? of.right ? " (right)" : " (WRONG)" : "");
    if (by.verbose) text += fmt::format("    {}: {}\n", of.algorithm, of.reason);
    return text;
}

void write_settings(json_writer& into, const options& wanted, const ucg_group_attr_t& group) {
    into.member("ranks", group.size);
    into.member("nodes", group.nodes);
    into.member("type", ucg_type_name(wanted.type));
    into.member("operation", ucg_op_name(wanted.op));
    into.member("root", wanted.root);
    into.member("calls", wanted.how == mode::persistent ? "persistent" : "blocking");
    into.member("in_flight", wanted.in_flight);
    into.member("buffers", wanted.buffers);
    into.member("in_place", wanted.in_place);
    into.member("deterministic", wanted.deterministic);
    into.member("timeout_s", wanted.limit);
    into.member("ranks_started_here", wanted.ranks);
    into.member("bound", wanted.processors.has_value());
    into.begin_array("processors");
    for (const unsigned cpu : wanted.processors.value_or(std::vector<unsigned>{}))
        into.element(cpu);
    into.end();
}

void write_row(json_writer& into, const options& wanted, const result_row& row) {
    const double rate = algorithm_rate(row);
    into.member("collective", ucg_coll_name(row.what));
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
    into.member("result", verdict(wanted, row));
}

}  // namespace tools::ucg_perf
