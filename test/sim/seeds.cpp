#include "test/sim/seeds.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace sim_test {

namespace {

struct arguments {
    std::uint64_t first = 1;
    std::uint64_t count = 100;
    bool verbose = false;
    std::vector<std::size_t> profiles;
};

int usage(const seed_program& program) {
    std::printf(
        "usage: %s [--seed N | --seeds N [--first N]] [--profile NAME] [--verbose]\n"
        "  --seed N        run this seed only and print its outcome\n"
        "  --seeds N       run N seeds (default 100); N * M / 10 where HAWSER_SEEDS=M is set\n"
        "  --first N       from this seed on (default 1)\n"
        "  --profile NAME  one of%s (default: all)\n"
        "  --verbose       print each scenario before it runs\n",
        program.name,
        std::accumulate(program.profiles.begin(), program.profiles.end(), std::string(),
                        [](const std::string& all, const char* each) { return all + ' ' + each; })
            .c_str());
    return 2;
}

bool choose_profile(const seed_program& program, arguments& chosen, const char* text) {
    for (std::size_t i = 0; i < program.profiles.size(); ++i) {
        if (std::strcmp(program.profiles[i], text) != 0) continue;
        chosen.profiles = {i};
        return true;
    }
    return false;
}

// contrib/run-tests sets HAWSER_SEEDS to run more or fewer random cases.
std::uint64_t scaled(std::uint64_t seeds) {
    const char* const text = std::getenv("HAWSER_SEEDS");
    const std::uint64_t tenths = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    return tenths == 0 ? seeds : std::max<std::uint64_t>(1, seeds * tenths / 10);
}

bool read(int argc, char** argv, const seed_program& program, arguments& chosen) {
    chosen.profiles.resize(program.profiles.size());
    std::iota(chosen.profiles.begin(), chosen.profiles.end(), std::size_t{0});
    for (int i = 1; i < argc; ++i) {
        const char* option = argv[i];
        if (std::strcmp(option, "--verbose") == 0) {
            chosen.verbose = true;
            continue;
        }
        if (++i == argc) return false;
        if (std::strcmp(option, "--profile") == 0) {
            if (!choose_profile(program, chosen, argv[i])) return false;
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

// The text that is printed when the process crashes: scenario and replay command.
char running[2048];

void print_seed() {
    const auto written = ::write(STDERR_FILENO, running, std::strlen(running));
    static_cast<void>(written);
}

void on_crash(int signal) {
    print_seed();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

bool run_one(const seed_program& program, std::uint64_t seed, std::size_t profile, bool verbose) {
    const std::string text = program.text(seed, profile);
    const std::string replay = fmt::format("replay: {} --profile {} --seed {}", program.name,
                                           program.profiles[profile], seed);
    std::snprintf(running, sizeof running, "crashed; %s\nin %s\n", replay.c_str(), text.c_str());
    if (verbose) {
        std::printf("%s\n", text.c_str());
        std::fflush(stdout);
    }
    outcome result = program.run(seed, profile);
    if (verbose) {
        std::printf("  %zu operations, digest %016llx\n", result.operations,
                    static_cast<unsigned long long>(result.digest));
    }
    if (result.violation.empty() && program.repeats_every != 0 &&
        seed % program.repeats_every == 0 && program.run(seed, profile).digest != result.digest) {
        result.violation = "the second run of this seed has another digest";
    }
    if (result.violation.empty()) return true;
    std::fprintf(stderr, "%s\nFAILED in %s\n%s\n%s\n", result.details.c_str(), text.c_str(),
                 result.violation.c_str(), replay.c_str());
    return false;
}

}  // namespace

}  // namespace sim_test

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

int sim_test::run_seeds(int argc, char** argv, const seed_program& program) {
    arguments chosen;
    if (!read(argc, argv, program, chosen)) return usage(program);
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(print_seed);
    } else {
        for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE})
            std::signal(signal, on_crash);
    }
    for (std::uint64_t seed = chosen.first; seed < chosen.first + chosen.count; ++seed) {
        for (const std::size_t profile : chosen.profiles) {
            if (!run_one(program, seed, profile, chosen.verbose)) return 1;
        }
    }
    std::printf("%llu seeds passed\n", static_cast<unsigned long long>(chosen.count));
    return 0;
}
