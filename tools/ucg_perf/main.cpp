// ucg_perf: how long collectives take.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "tools/common/affinity.hpp"
#include "tools/common/failure.hpp"
#include "tools/common/json_report.hpp"
#include "tools/common/row_counter.hpp"
#include "tools/common/version.hpp"
#include "tools/ucg_perf/job.hpp"
#include "tools/ucg_perf/local_ranks.hpp"
#include "tools/ucg_perf/options.hpp"
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

// For a command line that asks for a text.
std::string text_wanted(const options& wanted) {
    if (wanted.standard.help) return help_text();
    if (wanted.standard.version) return tools::version_text("ucg_perf", loaded_libraries());
    return list_text();
}

// To the processor of the list whose turn it is.
void bind_rank(const options& wanted, std::uint32_t place) {
    if (!wanted.processors) return;
    const std::vector<unsigned> cpus =
        wanted.processors->empty() ? tools::allowed_cpus() : *wanted.processors;
    tools::pin_thread({cpus[place % cpus.size()]}, 0, 1);
}

tools::run_conditions conditions_of(const options& wanted) {
    return {"ucg_perf", wanted.arguments, loaded_libraries()};
}

// Lists the subjects of the rows, in their order.
std::vector<subject> subjects_of(const options& wanted) {
    std::vector<const char*> algorithms;
    for (const std::string& each : wanted.algorithms)
        algorithms.push_back(each.c_str());
    if (algorithms.empty()) algorithms.push_back(nullptr);
    std::vector<subject> all;
    for (const ucg_coll_t what : wanted.collectives) {
        const bool sized = what != UCG_COLL_BARRIER;
        for (const std::uint64_t bytes : sized ? wanted.sizes : std::vector<std::uint64_t>{0})
            for (const char* const by : algorithms)
                all.push_back({what, bytes, by});
    }
    return all;
}

// "allreduce of 4096 bytes by ring".
std::string name_of(const subject& what) {
    std::string made = ucg_coll_name(what.what);
    if (what.what != UCG_COLL_BARRIER) made += fmt::format(" of {} bytes", what.bytes);
    if (what.algorithm != nullptr) made += fmt::format(" by {}", what.algorithm);
    return made;
}

// The text table shows by itself how far a run has come, unless somebody waits at a terminal for
// its next row.
bool counts_rows(const options& wanted, std::size_t rows) {
    if (wanted.quiet || rows < 2) return false;
    return wanted.standard.form != tools::output_form::text || ::isatty(STDERR_FILENO) != 0;
}

// Rank 0 prints the report. The other ranks print nothing.
class printer {
public:
    printer(const job& with, const options& wanted, std::size_t rows)
        : wanted_(wanted), counter_("ucg_perf", rows, !counts_rows(wanted, rows)) {
        if (wanted.standard.form == tools::output_form::json) {
            json_.emplace(conditions_of(wanted), [&](tools::json_writer& into) {
                write_settings(into, wanted, with.about());
            });
        } else {
            print(header(wanted, with.about()));
        }
    }
    void begin(const subject& what) { counter_.next(name_of(what)); }
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

// Whether all ranks got what they should. `into` is null on all ranks but the first.
bool measure(const job& with, const options& wanted, const subject& what, printer* into) {
    if (into != nullptr) into->begin(what);
    const measurement found = trial(with, wanted, what).run();
    if (into == nullptr) return found.right;
    const std::uint64_t element = ucg_type_size(wanted.type);
    const wanted_layout of{what.what, what.bytes / element, wanted.root, wanted.in_place};
    result_row line;
    line.what = what.what;
    line.bytes = what.bytes;
    line.whole = whole(of, with.size()) * element;
    line.iterations = found.times.size();
    line.ranks = with.size();
    line.times = summarise(found.times);
    line.bus_factor = bus_factor(what.what, with.size());
    line.algorithm = found.algorithm;
    line.reason = found.reason;
    line.right = found.right;
    into->add(line);
    return found.right;
}

int run_job(const options& wanted, ucg_oob_t* over) {
    // Before the memory of the group is touched: it lies where the processor is.
    if (wanted.ranks == 0 && wanted.processors) bind_rank(wanted, place_on_machine(*over));
    const job with(over, wanted.limit);
    if (wanted.root >= with.size()) {
        throw tools::usage_error(
            fmt::format("-r: there is no rank {} of {}", wanted.root, with.size()));
    }
    const std::vector<subject> rows = subjects_of(wanted);
    std::optional<printer> output;
    if (with.rank() == 0) output.emplace(with, wanted, rows.size());
    try {
        bool right = true;
        for (const subject& each : rows)
            right = measure(with, wanted, each, output ? &*output : nullptr) && right;
        with.barrier();
        if (output) output->finish();
        return right ? EXIT_SUCCESS : tools::exit_failure;
    } catch (const std::exception& error) {
        if (output) output->finish_after(error.what());
        throw;
    }
}

// The exit status of what was done, or of why it could not be.
template<class Work>
int told(const std::string& who, const Work& work) {
    try {
        return work();
    } catch (const tools::usage_error& error) {
        fmt::print(stderr, "{}: {} (-h shows the options)\n", who, error.what());
        return tools::exit_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", who, error.what());
        return tools::exit_failure;
    }
}

int run_as_rank(const options& wanted, ucg_oob_t* over) {
    return told(fmt::format("ucg_perf: rank {}", over->rank),
                [&] { return run_job(wanted, over); });
}

int run(const options& wanted) {
    if (wanted.processors) tools::check_cpus('C', *wanted.processors);
    if (wanted.ranks == 0) {
        ucg_oob_t* over = nullptr;
        check(ucg_oob_create_env(&over), "finding the other ranks");
        return run_as_rank(wanted, over);
    }
    return run_local_ranks(wanted.ranks, wanted.limit, [&](std::uint32_t rank, ucg_oob_t* over) {
        return told(fmt::format("ucg_perf: rank {}", rank), [&] {
            bind_rank(wanted, rank);
            return run_as_rank(wanted, over);
        });
    });
}

}  // namespace

int main(int argc, char** argv) {
    const int status = told("ucg_perf", [&] {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const options wanted = parse_options(words);
        if (!wanted.standard.only_text() && !wanted.list) return run(wanted);
        fmt::print("{}", text_wanted(wanted));
        return EXIT_SUCCESS;
    });
    return std::fflush(stdout) == 0 ? status : tools::exit_failure;
}
