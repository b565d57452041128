// Compiles Catch2 and its main().
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

// A program that registers test cases at run time may define this function.
[[gnu::weak]] void register_test_cases();

int main(int argc, char** argv) {
    if (register_test_cases != nullptr) register_test_cases();
    return Catch::Session().run(argc, argv);
}

// Suppresses leaks of third-party libraries: PMIx keeps some bytes until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libpmix.so";
}
