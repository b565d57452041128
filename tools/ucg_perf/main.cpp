// ucg_perf: measures how long collectives take.

#include <cstdlib>
#include <exception>

#include "tools/common/affinity.hpp"
#include "tools/common/failure.hpp"
#include "tools/common/json_report.hpp"
#include "tools/common/row_counter.hpp"
#include "tools/ucg_perf/report.hpp"
#include "tools/ucg_perf/trial.hpp"

namespace {

using namespace tools::ucg_perf;

std::vector<tools::library> loaded_libraries() {
    const void* const function = reinterpret_cast<const void*>(&ucg_coll_name);
    return {
        tools::library_of("libucg", fmt::format("{}.{}", UCG_API_MAJOR, UCG_API_MINOR), function),
        tools::loaded_libucp()};
}

// Returns the text that the command line asks for: help, version or lists of names.
std::string requested_text(const options& opts) {
    if (opts.standard.help) return help_text();
    if (opts.standard.version) return tools::version_text("ucg_perf", loaded_libraries());
    return list_text();
}

// Binds the calling process to the processor at `index`, modulo the length of the list.
void bind_rank(const options& opts, std::uint32_t index) {
    if (!opts.processors) return;
    const std::vector<unsigned> cpus =
        opts.processors->empty() ? tools::allowed_cpus() : *opts.processors;
    tools::pin_thread({cpus[index % cpus.size()]}, 0, 1);
}

tools::run_conditions conditions_of(const options& opts) {
    return {"ucg_perf", opts.arguments, loaded_libraries()};
}

// Lists the subjects of the rows, in their order.
std::vector<subject> subjects_of(const options& opts) {
    std::vector<const char*> algorithms;
    for (const std::string& each : opts.algorithms)
        algorithms.push_back(each.c_str());
    if (algorithms.empty()) algorithms.push_back(nullptr);
    std::vector<subject> all;
    for (const ucg_coll_t collective : opts.collectives) {
        const bool sized = collective != UCG_COLL_BARRIER;
        for (const std::uint64_t bytes : sized ? opts.sizes : std::vector<std::uint64_t>{0})
            for (const char* const algorithm : algorithms)
                all.push_back({collective, bytes, algorithm});
    }
    return all;
}

// "allreduce of 4096 bytes by ring".
std::string name_of(const subject& row) {
    std::string made = ucg_coll_name(row.collective);
    if (row.collective != UCG_COLL_BARRIER) made += fmt::format(" of {} bytes", row.bytes);
    if (row.algorithm != nullptr) made += fmt::format(" by {}", row.algorithm);
    return made;
}

// A text table shows the progress of the run by its rows, so rows are counted only if the error
// output is a terminal.
bool counts_rows(const options& opts, std::size_t rows) {
    if (opts.quiet || rows < 2) return false;
    return opts.standard.form != tools::output_form::text || ::isatty(STDERR_FILENO) != 0;
}

// Rank 0 prints the report. The other ranks print nothing.
class printer {
public:
    printer(const job& this_job, const options& opts, std::size_t rows)
        : wanted_(opts), counter_("ucg_perf", rows, !counts_rows(opts, rows)) {
        if (opts.standard.form == tools::output_form::json) {
            json_.emplace(conditions_of(opts), [&](tools::json_writer& into) {
                write_settings(into, opts, this_job.about());
            });
        } else {
            print(header(opts, this_job.about()));
        }
    }
    void begin(const subject& row) { counter_.next(name_of(row)); }
    void add(const result_row& line) {
        counter_.clear();
        if (json_) {
            json_->add_row([&](tools::json_writer& into) { write_row(into, wanted_, line); });
        } else {
            print(row(wanted_, line));
        }
    }
    void finish() {
        if (json_) print(json_->finish());
    }
    void finish_after(std::string_view error) {
        counter_.clear();
        if (json_) print(json_->finish_after(error));
    }

private:
    static void print(const std::string& text) {
        fmt::print("{}", text);
        (void)std::fflush(stdout);
    }

    const options& wanted_;
    tools::row_counter counter_;
    std::optional<tools::json_report> json_;
};

// Measures one row. Returns whether all ranks received correct data. `into` is null on all ranks
// except rank 0.
bool measure(const job& this_job, const options& opts, const subject& row, printer* into) {
    if (into != nullptr) into->begin(row);
    const measurement found = trial(this_job, opts, row).run();
    if (into == nullptr) return found.correct;
    const std::uint64_t element = ucg_type_size(opts.type);
    const wanted_layout wanted_buffers{row.collective, row.bytes / element, opts.root,
                                       opts.in_place};
    result_row line;
    line.collective = row.collective;
    line.bytes = row.bytes;
    line.total_elements = total_elements(wanted_buffers, this_job.size()) * element;
    line.iterations = found.times.size();
    line.ranks = this_job.size();
    line.times = summarise(found.times);
    line.bus_factor = bus_factor(row.collective, this_job.size());
    line.algorithm = found.algorithm;
    line.reason = found.reason;
    line.correct = found.correct;
    into->add(line);
    return found.correct;
}

int run_job(const options& opts, ucg_oob_t* oob) {
    // Bind before the group's memory is touched: the kernel places it near the processor that
    // touches it first.
    if (opts.ranks == 0 && opts.processors) bind_rank(opts, index_on_machine(*oob));
    const job this_job(oob, opts.limit);
    if (opts.root >= this_job.size()) {
        throw tools::usage_error(
            fmt::format("-r: there is no rank {} of {}", opts.root, this_job.size()));
    }
    const std::vector<subject> rows = subjects_of(opts);
    std::optional<printer> output;
    if (this_job.rank() == 0) output.emplace(this_job, opts, rows.size());
    try {
        bool correct = true;
        for (const subject& each : rows)
            correct = measure(this_job, opts, each, output ? &*output : nullptr) && correct;
        this_job.barrier();
        if (output) output->finish();
        return correct ? EXIT_SUCCESS : tools::exit_failure;
    } catch (const std::exception& error) {
        if (output) output->finish_after(error.what());
        throw;
    }
}

int run_as_rank(const options& opts, ucg_oob_t* oob) {
    return tools::run_tool(fmt::format("ucg_perf: rank {}", oob->rank),
                           [&] { return run_job(opts, oob); });
}

int run(const options& opts) {
    if (opts.processors) tools::check_cpus('C', *opts.processors);
    if (opts.ranks == 0) {
        ucg_oob_t* oob = nullptr;
        tools::require_ok(ucg_oob_create_env(&oob), "finding the other ranks");
        return run_as_rank(opts, oob);
    }
    return run_local_ranks(opts.ranks, opts.limit, [&](std::uint32_t rank, ucg_oob_t* oob) {
        return tools::run_tool(fmt::format("ucg_perf: rank {}", rank), [&] {
            bind_rank(opts, rank);
            return run_as_rank(opts, oob);
        });
    });
}

}  // namespace

int main(int argc, char** argv) {
    return tools::run_tool("ucg_perf", [&] {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const options opts = parse_options(words);
        if (!opts.standard.only_text() && !opts.list) return run(opts);
        fmt::print("{}", requested_text(opts));
        return EXIT_SUCCESS;
    });
}
