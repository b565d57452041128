// Protocol tests on the simulated transport: runs scenarios of many seeds.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "test/sim/run.hpp"

namespace {

using namespace sim_test;

struct arguments {
    std::uint64_t first = 1;
    std::uint64_t count = 100;
    bool verbose = false;
    std::vector<profile> kinds{std::begin(all_profiles), std::end(all_profiles)};
};

int usage() {
    std::printf(
        "usage: ucp_sim [--seed N | --seeds N [--first N]] [--profile NAME] [--verbose]\n"
        "  --seed N        run this seed only and say what happened\n"
        "  --seeds N       run N seeds (default 100); N * M / 10 where HAWSER_SEEDS=M is set\n"
        "  --first N       from this seed on (default 1)\n"
        "  --profile NAME  orderly, closing, abrupt or failures (default: all)\n"
        "  --verbose       print each scenario before it runs\n");
    return 2;
}

bool choose_profile(arguments& chosen, const char* text) {
    for (const profile each : all_profiles) {
        if (std::strcmp(name(each), text) != 0) continue;
        chosen.kinds = {each};
        return true;
    }
    return false;
}

// By which contrib/run-tests asks for more or fewer random cases.
std::uint64_t scaled(std::uint64_t seeds) {
    const char* const text = std::getenv("HAWSER_SEEDS");
    const std::uint64_t tenths = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    return tenths == 0 ? seeds : std::max<std::uint64_t>(1, seeds * tenths / 10);
}

bool read(int argc, char** argv, arguments& chosen) {
    for (int i = 1; i < argc; ++i) {
        const char* option = argv[i];
        if (std::strcmp(option, "--verbose") == 0) {
            chosen.verbose = true;
            continue;
        }
        if (++i == argc) return false;
        if (std::strcmp(option, "--profile") == 0) {
            if (!choose_profile(chosen, argv[i])) return false;
            continue;
        }
        char* end = nullptr;
        const std::uint64_t number = std::strtoull(argv[i], &end, 10);
        if (end == argv[i] || *end != '\0') return false;
        if (std::strcmp(option, "--seed") == 0) {
            chosen.first = number;
            chosen.count = 1;
            chosen.verbose = true;
        } else if (std::strcmp(option, "--seeds") == 0) {
            chosen.count = scaled(number);
        } else if (std::strcmp(option, "--first") == 0) {
            chosen.first = number;
        } else {
            return false;
        }
    }
    return true;
}

// What a crash happened in.
char running[1024];

void tell_seed() {
    const auto written = ::write(STDERR_FILENO, running, std::strlen(running));
    static_cast<void>(written);
}

void on_crash(int signal) {
    tell_seed();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

bool run_one(const scenario& plan, bool verbose) {
    std::snprintf(running, sizeof running, "crashed in %s\n", plan.text().c_str());
    if (verbose) {
        std::printf("%s\n", plan.text().c_str());
        std::fflush(stdout);
    }
    const outcome result = run(plan);
    if (verbose) {
        std::printf("  %zu operations, digest %016llx\n", result.operations,
                    static_cast<unsigned long long>(result.digest));
    }
    if (result.violation.empty()) return true;
    std::fprintf(stderr, "%s\nFAILED in %s\n%s\nreplay: ucp_sim --profile %s --seed %llu\n",
                 result.details.c_str(), plan.text().c_str(), result.violation.c_str(),
                 name(plan.kind), static_cast<unsigned long long>(plan.seed));
    return false;
}

}  // namespace

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

int main(int argc, char** argv) {
    arguments chosen;
    if (!read(argc, argv, chosen)) return usage();
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(tell_seed);
    } else {
        for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE})
            std::signal(signal, on_crash);
    }
    for (std::uint64_t seed = chosen.first; seed < chosen.first + chosen.count; ++seed) {
        for (const profile kind : chosen.kinds) {
            if (!run_one(scenario::of(seed, kind), chosen.verbose)) return 1;
        }
    }
    std::printf("%llu seeds passed\n", static_cast<unsigned long long>(chosen.count));
    return 0;
}
