#include "tools/ucg_sim/report.hpp"

#include <algorithm>

namespace tools::ucg_sim {
namespace {

using namespace ucg::sim;

constexpr double per_microsecond = 1e6;

double microseconds(ucg::sim::time_t picoseconds) noexcept {
    return static_cast<double>(picoseconds) / (ucg::sim::per_second / per_microsecond);
}

std::string link_text(const link_parameters& link) {
    return fmt::format("{} ns, {} GB/s, overheads {} + {} ns{}", link.latency, link.bandwidth / 1e9,
                       link.send_overhead, link.receive_overhead,
                       link.gap > 0 ? fmt::format(", gap {} ns", link.gap) : "");
}

std::string placement_text(const ucg::sim::machine& on) {
    const ucg::schedule::placement placement = placement_of(on);
    if (on.nodes.empty()) return fmt::format("{} to a node", on.ranks_per_node);
    return fmt::format("{} to {} on each of {} nodes{}", placement.min_ranks_per_node(),
                       placement.max_ranks_per_node(), placement.nodes(),
                       placement.is_in_order() ? "" : ", mixed");
}

struct port_load {
    double most = 0;
    double total = 0;
};

port_load load_of(const ucg::sim::outcome& found) noexcept {
    port_load made;
    for (const ucg::sim::traffic& each : found.nodes) {
        made.most = std::max({made.most, each.out, each.in});
        made.total += each.out;
    }
    return made;
}

std::string verdict(const ucg::sim::outcome& found) {
    return found.wrong.empty() ? "checked" : "WRONG: " + found.wrong;
}

std::string csv_row(const result_row& result) {
    const ucg::sim::outcome& found = result.found;
    const port_load load = load_of(found);
    const path& critical = found.critical_path;
    return fmt::format(
        "{},{},{:.0f},{:.3f},{:.3f},{:.0f},{:.0f},{:.0f},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},"
        "{:.3f},{:.3f},{:.3f},{}\n",
        result.collective, result.algorithm, result.bytes, found.seconds * per_microsecond,
        result.predicted * per_microsecond, load.most, load.total, found.inside, found.messages,
        found.last, critical.messages, critical.between, microseconds(critical.overhead),
        microseconds(critical.latency), microseconds(critical.transfer),
        microseconds(critical.queued), microseconds(critical.reduce), microseconds(critical.copy),
        microseconds(critical.disorder), found.wrong.empty() ? "checked" : "wrong");
}

std::string path_line(const ucg::sim::outcome& found) {
    const path& critical = found.critical_path;
    return fmt::format(
        "    path to rank {}: {} messages ({} between nodes), {} node collectives: overheads "
        "{:.2f}, latency {:.2f}, "
        "transfer {:.2f}, ports {:.2f}, reducing {:.2f}, copying {:.2f}{} us\n",
        found.last, critical.messages, critical.between, critical.node_collectives,
        microseconds(critical.overhead), microseconds(critical.latency),
        microseconds(critical.transfer), microseconds(critical.queued),
        microseconds(critical.reduce), microseconds(critical.copy),
        critical.disorder != 0 ? fmt::format(", delays {:.2f}", microseconds(critical.disorder))
                               : "");
}

}  // namespace

std::string header(const ucg::sim::machine& on, bool csv) {
    if (csv) {
        return "collective,algorithm,bytes,time_us,predicted_us,busiest_port_bytes,between_bytes,"
               "inside_bytes,messages,last_rank,path_messages,path_between,path_overhead_us,"
               "path_latency_us,path_transfer_us,path_ports_us,path_reduce_us,path_copy_us,"
               "path_delay_us,result\n";
    }
    return fmt::format(
        "# {} ranks, {}\n# inside a node: {}\n# between nodes: {}\n"
        "# reducing {} GB/s, copying {} GB/s\n"
        "{:<20} {:<20} {:>12} {:>14} {:>14} {:>15} {:>15} {:>11}\n",
        on.ranks, placement_text(on), link_text(on.inside), link_text(on.between),
        on.reduce_rate / 1e9, on.copy_rate / 1e9, "collective", "algorithm", "bytes", "time us",
        "predicted us", "busiest port", "between nodes", "messages");
}

std::string row(const result_row& result, bool csv) {
    if (csv) return csv_row(result);
    const port_load load = load_of(result.found);
    return fmt::format(
               "{:<20} {:<20} {:>12.0f} {:>14.2f} {:>14.2f} {:>15.0f} {:>15.0f} {:>11} {}\n",
               result.collective, result.algorithm, result.bytes,
               result.found.seconds * per_microsecond, result.predicted * per_microsecond,
               load.most, load.total, result.found.messages, verdict(result.found)) +
           path_line(result.found);
}

void write_settings(json_writer& into, const ucg::sim::machine& machine) {
    const auto write_link = [&into](std::string_view name, const link_parameters& link) {
        into.begin_object(name);
        into.member("latency_ns", link.latency);
        into.member("bandwidth_GBps", link.bandwidth / 1e9);
        into.member("send_overhead_ns", link.send_overhead);
        into.member("receive_overhead_ns", link.receive_overhead);
        into.member("gap_ns", link.gap);
        into.end();
    };
    write_link("inside_a_node", machine.inside);
    write_link("between_nodes", machine.between);
    into.member("placement", placement_text(machine));
    into.member("flag_ns", machine.flag);
    into.member("look_ns", machine.flag_read);
    into.member("reduce_GBps", machine.reduce_rate / 1e9);
    into.member("copy_GBps", machine.copy_rate / 1e9);
    into.member("largest_delay_ns", machine.max_delay);
    into.member("seed", machine.seed);
}

void write_row(json_writer& into, const result_row& row, const ucg::sim::machine& machine) {
    const ucg::sim::outcome& found = row.found;
    const port_load load = load_of(found);
    const path& critical = found.critical_path;
    into.member("collective", row.collective);
    into.member("algorithm", row.algorithm);
    into.member("ranks", machine.ranks);
    into.member("bytes", row.bytes);
    into.member("time_us", found.seconds * per_microsecond);
    into.member("predicted_us", row.predicted * per_microsecond);
    into.member("busiest_port_bytes", load.most);
    into.member("between_bytes", load.total);
    into.member("inside_bytes", found.inside);
    into.member("messages", found.messages);
    into.begin_object("path");
    into.member("rank", found.last);
    into.member("messages", critical.messages);
    into.member("messages_between_nodes", critical.between);
    into.member("overhead_us", microseconds(critical.overhead));
    into.member("latency_us", microseconds(critical.latency));
    into.member("transfer_us", microseconds(critical.transfer));
    into.member("ports_us", microseconds(critical.queued));
    into.member("reduce_us", microseconds(critical.reduce));
    into.member("copy_us", microseconds(critical.copy));
    into.member("delay_us", microseconds(critical.disorder));
    into.end();
    into.member("result", verdict(found));
}

}  // namespace tools::ucg_sim
