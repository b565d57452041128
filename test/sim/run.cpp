// Protocol tests on the simulated transport: runs scenarios of many seeds.
#include <fmt/format.h>

#include <algorithm>

#include "test/sim/process.hpp"
#include "test/sim/seeds.hpp"
#include "test/sim/transports.hpp"
#include "test/support/identities.hpp"
#include "uct/sim/driver.hpp"

namespace sim_test {

namespace {

constexpr std::size_t max_turns = 3'000'000;
constexpr ucs::time::nanoseconds time_limit = 2'000'000'000;

// Lets the processes run through the phases of a program: work, wait, drain, close, end.
class runner {
public:
    explicit runner(const scenario& plan)
        : plan_(plan),
          network_(plan.seed, plan.network),
          dice_(plan.seed + 77),
          transports_(network_),
          wires_(
              dice_, plan.breaking,
              [this](const sockets::pair& which) { records_.disturb(which.first, which.second); }),
          all_{plan, network_, dice_, records_, wires_, {}},
          driver_(network_) {}

    outcome go() {
        start();
        if (!work() || !wait() || !drain() || !close() || !end()) describe();
        result_.violation = records_.violation();
        result_.digest = network_.history().digest();
        result_.operations = records_.operations().size();
        if (records_.violated() && result_.details.empty()) describe();
        destroy_workers();
        return std::move(result_);
    }

private:
    std::shared_ptr<ucp::context> new_context() {
        ucp::context_params params;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA |
                          UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
        params.request_area = {request_areas::size, request_areas::init, request_areas::cleanup};
        return transports_.new_context(plan_.options, params, dice_.chance(plan_.paired));
    }

    void start() {
        std::shared_ptr<ucp::context> shared;
        for (std::size_t i = 0; i < plan_.workers; ++i) {
            if (shared == nullptr || !plan_.shared_context) shared = new_context();
            all_.processes.push_back(std::make_unique<process>(all_, i, shared));
            driver_.add([added = all_.processes.back().get()] { return added->turn(); });
        }
        if (plan_.sockets > 0) driver_.add([this] { return wires_.turn(); });
        if (plan_.kind != profile::failures) return;
        failures_left_ = dice_.between(1, 3);
        driver_.add([this] { return perhaps_break(); });
    }

    unsigned perhaps_break() {
        if (failures_left_ == 0 || !dice_.chance(0.003)) return 0;
        --failures_left_;
        break_something();
        return 1;
    }

    void break_something() {
        const std::size_t a = dice_.below(plan_.workers);
        const std::size_t b = dice_.below(plan_.workers);
        if (records_.dead(a) || records_.dead(b)) return;
        process& victim = *all_.processes[a];
        const std::uint64_t from = victim.worker()->uid();
        const std::uint64_t choice = dice_.below(4);
        if (choice < 2) {
            // A process may lack this interface.
            const std::size_t which =
                dice_.chance(plan_.paired) ? dice_.between(1, plan_.network.paired.devices) : 0;
            const auto node_a = network_.find_node(from, which);
            const auto node_b = network_.find_node(all_.processes[b]->worker()->uid(), which);
            if (!node_a || !node_b) return;
            records_.disturb(a, b);
            if (choice == 0) {
                network_.fail_after(*node_a, *node_b, dice_.below(20'000));
            } else {
                network_.fail_at_operation(*node_a, *node_b, dice_.between(1, 20));
            }
            return;
        }
        records_.disturb_all(a, plan_.workers);
        if (choice == 2) network_.kill(from);  // otherwise it ends without closing anything
        records_.kill(a);
        wires_.cut(a);
        if (choice == 3 || dice_.chance(0.5)) victim.destroy();
    }

    // Runs until `done` returns true, or until a violation. `done` is evaluated every 40 turns.
    bool until(const char* phase, const std::function<bool()>& done) {
        unsigned countdown = 0;
        bool finished = false;
        const auto ask = [&] {
            if (records_.violated()) return true;
            if (countdown-- > 0) return false;
            countdown = 40;
            return finished = done();
        };
        if (driver_.run_until(ask, max_turns, time_limit) && !records_.violated()) return true;
        if (!finished && !records_.violated()) finished = done();
        if (finished) return !records_.violated();
        records_.violation(
            fmt::format("stuck in phase '{}'; still running:\n{}", phase, records_.pending_text()));
        return false;
    }

    bool work() {
        return until("work", [this] {
            return std::none_of(
                all_.processes.begin(), all_.processes.end(),
                [this](const auto& p) { return p->busy() && !records_.dead(p->number()); });
        });
    }

    bool wait() {
        failures_left_ = 0;
        for (const auto& each : all_.processes) {
            if (!records_.dead(each->number())) each->stop();
        }
        return until("wait", [this] {
            return std::none_of(all_.processes.begin(), all_.processes.end(),
                                [](const auto& p) { return p->waits(); });
        });
    }

    bool drain() {
        for (const auto& each : all_.processes) {
            if (!records_.dead(each->number())) each->start_draining();
        }
        return until(
                   "drain",
                   [this] { return records_.all_but_reads_ended() && records_.all_delivered(); }) &&
               quiet();
    }

    bool close() {
        for (const auto& each : all_.processes) {
            if (records_.dead(each->number())) continue;
            each->check_error_callbacks();
            each->note_streams();
        }
        for (const auto& each : all_.processes) {
            if (!records_.dead(each->number())) each->close_everything();
        }
        return until("close", [this] { return records_.all_ended(); }) && quiet();
    }

    bool quiet() {
        if (driver_.run_until_quiet(max_turns)) {
            // The next calls of progress free closed endpoints.
            for (int i = 0; i < (plan_.sockets > 0 ? 30 : 3); ++i) {
                for (const auto& each : all_.processes) {
                    each->look_everywhere();
                    each->turn();
                }
                wires_.turn();
            }
            if (driver_.run_until_quiet(max_turns)) return !records_.violated();
        }
        records_.violation("it does not get quiet");
        return false;
    }

    [[nodiscard]] bool has_leftovers() const {
        return std::any_of(all_.processes.begin(), all_.processes.end(), [this](const auto& each) {
            return !records_.dead(each->number()) && !each->leftovers().empty();
        });
    }

    // Some objects end only by time: a peer that died in silence is given up after its timeouts.
    void let_time_pass() {
        for (int minutes = 0; minutes < 10 && has_leftovers(); ++minutes) {
            for (int i = 0; i < 20; ++i) {
                network_.advance(3 * ucs::time::second);
                if (!quiet()) return;
            }
        }
    }

    bool end() {
        let_time_pass();
        for (const auto& each : all_.processes) {
            if (records_.dead(each->number())) continue;
            each->check_streams();
            const std::string left = each->leftovers();
            if (!left.empty()) {
                records_.violation(fmt::format("worker {} still has: {}", each->number(), left));
            }
        }
        if (!records_.violated()) records_.check_everything();
        for (const auto& each : all_.processes)
            each->check_memory();
        if (records_.violated()) return false;
        destroy_workers();
        all_.processes.clear();
        if (request_areas::alive != 0) records_.violation("request areas were not cleaned up");
        if (payload::open_states() != 0) records_.violation("datatypes were not finished");
        return true;
    }

    // The memory of all processes stays until the last worker is destroyed, because operations may
    // still use it.
    void destroy_workers() {
        std::vector<process*> left;
        for (const auto& each : all_.processes)
            left.push_back(each.get());
        while (!left.empty()) {
            const auto which = static_cast<std::ptrdiff_t>(dice_.below(left.size()));
            left[static_cast<std::size_t>(which)]->destroy();
            left.erase(left.begin() + which);
        }
    }

    void describe() {
        for (const auto& each : all_.processes)
            result_.details += each->state_text();
        result_.details += wires_.text() + driver_.report();
    }

    const scenario& plan_;
    uct::sim::fabric network_;
    ucs::sys::random dice_;
    transports transports_;
    model records_;
    sockets wires_;
    simulation all_;
    uct::sim::driver driver_;
    outcome result_;
    std::uint64_t failures_left_ = 0;
};

outcome run(std::uint64_t seed, std::size_t kind) {
    const scenario plan = scenario::of(seed, static_cast<profile>(kind));
    const test::seeded_identities identities(seed);
    return runner(plan).go();
}

}  // namespace

}  // namespace sim_test

int main(int argc, char** argv) {
    using namespace sim_test;
    return run_seeds(argc, argv,
                     {"ucp_sim", profile_names,
                      [](std::uint64_t seed, std::size_t kind) {
                          return scenario::of(seed, static_cast<profile>(kind)).text();
                      },
                      run});
}
