// Catch2 itself, and main.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

// What a program that makes its test cases at run time may define: does so.
[[gnu::weak]] void register_test_cases();

int main(int argc, char** argv) {
    if (register_test_cases != nullptr) register_test_cases();
    return Catch::Session().run(argc, argv);
}

// What a library of others never frees is not ours to mend: PMIx keeps some bytes for as long as
// the process lives.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libpmix.so";
}
