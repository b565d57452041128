// Test of groups on the simulated transport: runs the plans of many seeds.
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "test/sim/seeds.hpp"
#include "test/sim/transports.hpp"
#include "test/sim/ucg/rank.hpp"
#include "test/support/identities.hpp"

namespace group_sim {

namespace {

constexpr std::size_t max_turns = 20'000'000;
// The longest timeouts of the library are those of group creation, five minutes each, which may
// follow one another.
constexpr nanoseconds max_creation_time = 300 * ucs::time::second;
// The timeouts of a plan, and those that the library adds if a rank does not receive sent data.
constexpr nanoseconds max_operation_time = 120 * ucs::time::second;

// Lets ranks and network take turns in random order. While a rank waits in a call of the library,
// the others take their turns below it on the stack.
class runner {
public:
    explicit runner(const plan& run_plan)
        : plan_(run_plan),
          network_(run_plan.seed, run_plan.network),
          dice_(run_plan.seed + 77),
          transports_(network_),
          all_(run_plan, network_, dice_),
          failures_left_(run_plan.failures) {
        current_ = this;
        ucs::time::set_simulation_yield([]() noexcept { current_->on_wait(); });
    }
    ~runner() {
        ucs::time::set_simulation_yield(nullptr);
        current_ = nullptr;
    }

    sim_test::outcome execute() {
        for (std::uint32_t i = 0; i < plan_.ranks; ++i)
            ranks_.push_back(std::make_unique<rank>(all_, i, new_context()));
        if (!until("work", [this] { return are_done(false); }) || !check_leftovers() ||
            !finish_dead_ranks())
            describe();
        result_.violation = all_.violation();
        result_.digest = network_.history().digest() ^ all_.digest();
        result_.operations = all_.operations;
        if (all_.violated()) {
            // Active ranks cannot be destroyed.
            for (auto& each : ranks_)
                static_cast<void>(each.release());
            return std::move(result_);
        }
        while (!ranks_.empty()) {
            const auto which = static_cast<std::ptrdiff_t>(dice_.below(ranks_.size()));
            ranks_.erase(ranks_.begin() + which);
        }
        return std::move(result_);
    }

private:
    std::unique_ptr<ucp::context> new_context() {
        ucp::context_params params;
        params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
        return transports_.new_context(plan_.ucp, params, dice_.chance(plan_.paired));
    }

    [[nodiscard]] bool moves(const rank& candidate) const {
        return dead_move_ || !all_.is_dead(candidate.number());
    }

    unsigned turn() {
        ++turns_;
        inject_failure();
        const std::size_t choice = dice_.below(ranks_.size() + 1);
        if (choice < ranks_.size() && moves(*ranks_[choice])) {
            const unsigned happened = ranks_[choice]->turn();
            if (happened > 0) return happened;
        }
        if (network_.step()) return 1;
        unsigned happened = 0;
        for (std::size_t i = 0; i < ranks_.size(); ++i)
            if (moves(*ranks_[i])) happened += ranks_[i]->turn();
        return happened;
    }

    // Advances time to the next rank that continues, in steps that grow while nothing happens.
    void turn_or_pass_time() {
        if (turn() > 0 || network_.pending_events() > 0) {
            idle_pause_ = shortest_pause;
            return;
        }
        nanoseconds pause = idle_pause_;
        for (const auto& each : ranks_)
            if (each->pauses_until() > network_.now())
                pause = std::min(pause, each->pauses_until() - network_.now());
        network_.advance(pause);
        idle_pause_ = std::min(idle_pause_ + idle_pause_ / 4, longest_pause);
    }

    void on_wait() {
        if (turns_ > 2 * max_turns || network_.now() > end_ + time_limit()) {
            describe();
            std::fprintf(stderr, "%s\na call does not return\n", result_.details.c_str());
            std::abort();
        }
        turn_or_pass_time();
    }

    [[nodiscard]] nanoseconds time_limit() const {
        return (plan_.groups.size() + 2) * max_creation_time +
               plan_.program.size() * max_operation_time;
    }

    bool until(const char* phase, const std::function<bool()>& done) {
        end_ = network_.now() + time_limit();
        while (!done()) {
            if (all_.violated()) return false;
            if (turns_ > max_turns || network_.now() > end_) {
                all_.violation(fmt::format("stuck in phase '{}'", phase));
                return false;
            }
            turn_or_pass_time();
        }
        return !all_.violated();
    }

    [[nodiscard]] bool are_done(bool dead_too) const {
        return std::ranges::all_of(ranks_, [&](const auto& each) {
            return each->is_done() || (!dead_too && all_.is_dead(each->number()));
        });
    }

    bool quiet() {
        for (unsigned calm = 0; calm < 3;) {
            if (turns_ > max_turns) {
                all_.violation("it does not get quiet");
                return false;
            }
            calm = turn() == 0 && network_.pending_events() == 0 ? calm + 1 : 0;
        }
        return true;
    }

    [[nodiscard]] bool has_leftovers() const {
        return std::ranges::any_of(ranks_, [this](const auto& each) {
            return !all_.is_dead(each->number()) && !each->leftovers().empty();
        });
    }

    // Advances time until ranks that died silently are given up, and checks that nothing remains.
    bool check_leftovers() {
        failures_left_ = 0;
        if (!quiet()) return false;
        for (int i = 0; i < 200 && has_leftovers(); ++i) {
            network_.advance(3 * ucs::time::second);
            if (!quiet()) return false;
        }
        for (const auto& each : ranks_) {
            if (all_.is_dead(each->number())) continue;
            const std::string left = each->leftovers();
            if (!left.empty())
                all_.violation(fmt::format("rank {} still has: {}", each->number(), left));
        }
        return !all_.violated();
    }

    // Ends the operations of dead ranks, so that they can be destroyed.
    bool finish_dead_ranks() {
        dead_move_ = true;
        for (const auto& each : ranks_) {
            if (!all_.is_dead(each->number())) continue;
            network_.disconnect_worker(each->uid());
            each->abandon();
        }
        return until("end of the dead", [this] { return are_done(true); });
    }

    void inject_failure() {
        if (failures_left_ == 0 || !dice_.chance(0.002)) return;
        const auto& one = *ranks_[dice_.below(ranks_.size())];
        const auto& other = *ranks_[dice_.below(ranks_.size())];
        if (all_.is_dead(one.number()) || all_.is_dead(other.number()) || !one.is_idle()) return;
        if (plan_.groups_first && !std::ranges::all_of(ranks_, [this](const auto& each) {
                return all_.is_dead(each->number()) || each->has_all_groups();
            }))
            return;
        --failures_left_;
        const std::uint64_t choice = dice_.below(5);
        if (choice < 2) {
            all_.kill(one.number());
            network_.kill(one.uid());
            return;
        }
        if (choice == 4) {
            all_.isolate(one.number());
            network_.disconnect_worker(one.uid());
            return;
        }
        const std::size_t which =
            dice_.chance(plan_.paired) ? dice_.between(1, plan_.network.paired.devices) : 0;
        const auto from = network_.find_node(one.uid(), which);
        const auto to = network_.find_node(other.uid(), which);
        if (!from || !to || one.number() == other.number()) return;
        all_.part(one.number(), other.number());
        if (choice == 2)
            network_.fail_after(*from, *to, dice_.below(20'000));
        else
            network_.fail_at_operation(*from, *to, dice_.between(1, 20));
    }

    void describe() {
        result_.details.clear();
        for (const auto& each : ranks_)
            result_.details += each->state_text();
        result_.details +=
            fmt::format("# seed {}, virtual time {} ns, {} turns; last events:\n{}", plan_.seed,
                        network_.now(), turns_, network_.history().text());
    }

    static constexpr nanoseconds shortest_pause = 100'000;
    static constexpr nanoseconds longest_pause = 20'000'000;
    static inline runner* current_ = nullptr;

    const plan& plan_;
    uct::sim::fabric network_;
    ucs::sys::random dice_;
    sim_test::transports transports_;
    world all_;
    std::vector<std::unique_ptr<rank>> ranks_;
    sim_test::outcome result_;
    std::size_t turns_ = 0;
    nanoseconds end_ = 0;
    nanoseconds idle_pause_ = shortest_pause;
    unsigned failures_left_;
    bool dead_move_ = false;
};

sim_test::outcome run(std::uint64_t seed, std::size_t kind) {
    const plan run_plan = plan::generate(seed, static_cast<profile>(kind));
    const test::seeded_identities identities(seed);
    return runner(run_plan).execute();
}

}  // namespace

}  // namespace group_sim

int main(int argc, char** argv) {
    using namespace group_sim;
    return sim_test::run_seeds(argc, argv,
                               {"ucg_seeds", profile_names,
                                [](std::uint64_t seed, std::size_t kind) {
                                    return plan::generate(seed, static_cast<profile>(kind)).text();
                                },
                                run, 50});
}
