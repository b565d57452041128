#include "tools/perf/core/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/text.hpp"

namespace tools::perf {
namespace {

constexpr std::string_view top_edge =
    "+--------------+--------------+------------------------------+---------------------+"
    "-----------------------+\n";
constexpr std::string_view inner_edge =
    "+--------------+--------------+----------+---------+---------+----------+----------+"
    "-----------+-----------+\n";

std::string join(const std::vector<std::string>& names, std::string_view between) {
    return fmt::format("{}", fmt::join(names, between));
}

std::string count_text(const table_style& style, double value) {
    const auto whole = static_cast<std::uint64_t>(value + 0.5);
    return style.thousands ? with_thousands(whole) : std::to_string(whole);
}

std::string full_columns(const table_style& style, const measurement& m) {
    return fmt::format(
        "{:>18} {:10.3f} {:9.3f} {:9.3f} {:11.2f} {:10.2f} {:>11} {:>11}",
        style.thousands ? with_thousands(m.iterations) : std::to_string(m.iterations), m.percentile,
        m.average, m.overall, m.average_bandwidth, m.overall_bandwidth,
        count_text(style, m.average_rate), count_text(style, m.overall_rate));
}

std::string overall_columns(const table_style& style, const measurement& m) {
    return fmt::format(
        "{:>18} {:29.3f} {:22.2f} {:>24}",
        style.thousands ? with_thousands(m.iterations) : std::to_string(m.iterations), m.overall,
        m.overall_bandwidth, count_text(style, m.overall_rate));
}

std::string csv_row(const std::vector<std::string>& names, unsigned threads, const measurement& m) {
    std::string row = names.empty() ? "" : join(names, ",") + ',';
    row += threads > 1
               ? fmt::format("{},,,{:.3f},,{:.2f},,{:.0f}", m.iterations, m.overall,
                             m.overall_bandwidth, m.overall_rate)
               : fmt::format("{},{:.3f},{:.3f},{:.3f},{:.2f},{:.2f},{:.0f},{:.0f}", m.iterations,
                             m.percentile, m.average, m.overall, m.average_bandwidth,
                             m.overall_bandwidth, m.average_rate, m.overall_rate);
    return row + '\n';
}

}  // namespace

std::string table_header(const table_style& style, quantity measured, double rank,
                         const std::vector<std::string>& batch_files) {
    if (style.quiet || style.form == output_form::json) return {};
    if (style.form == output_form::csv) {
        return fmt::format(
            "{}iterations,{:.1f}_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,"
            "overall_mr\n",
            batch_files.empty() ? "" : join(batch_files, ",") + ',', rank);
    }
    std::string text(top_edge);
    text += fmt::format(
        "|              |              |{}|   bandwidth (MB/s)  |"
        "  message rate (msg/s) |\n",
        measured == quantity::bandwidth ? "       overhead (usec)        "
                                        : "        latency (usec)        ");
    text += inner_edge;
    text += fmt::format(
        "|{}| # iterations | {:4.1f}%ile | average | overall |  average |"
        "  overall |  average  |  overall  |\n",
        style.final_only ? "     Test     " : "    Stage     ", rank);
    text += inner_edge;
    return text;
}

std::string batch_title(const table_style& style, const std::vector<std::string>& names,
                        const std::string& position) {
    if (names.empty() || !style.is_full_table() || style.quiet) return {};
    std::string line(inner_edge);
    std::string label = fmt::format("{} ({})", join(names, "/"), position);
    label.resize(std::min(label.size(), line.size() - 3));
    line.replace(1, label.size(), label);
    return line;
}

std::string progress_row(const table_style& style, unsigned thread, const measurement& result) {
    if (!style.is_full_table()) return {};
    return fmt::format("[thread {}]{}\n", thread, full_columns(style, result));
}

std::string final_row(const table_style& style, unsigned threads,
                      const std::vector<std::string>& names, const measurement& result,
                      const std::string& extra_info) {
    if (style.form == output_form::csv) return csv_row(names, threads, result);
    std::string row = style.final_only ? fmt::format("{:>10}", join(names, "/")) : "Final:    ";
    row += threads > 1 ? overall_columns(style, result) : full_columns(style, result);
    if (!extra_info.empty()) row += "  " + extra_info;
    return row + '\n';
}

std::string server_box(const box_content& content, bool closed) {
    const auto line = [](std::string_view key, std::string_view value) {
        return fmt::format("| {:<14}{:<90} |\n", key, value);
    };
    const std::string edge = '+' + std::string(106, '-') + "+\n";
    std::string text = edge;
    if (!content.batch_label.empty()) text += line("Batch:", content.batch_label);
    text += line("API:", content.api);
    text += line("Test:", content.test_title);
    text += line("Data layout:", content.data_layout);
    text += line("Send memory:", "host");
    text += line("Recv memory:", "host");
    text += line("Message size:", std::to_string(content.message_size));
    return closed ? text + edge : text;
}

}  // namespace tools::perf
