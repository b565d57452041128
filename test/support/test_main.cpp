// Catch2 itself, and main.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

// What a program that makes its test cases at run time may define: does so.
[[gnu::weak]] void register_test_cases();

int main(int argc, char** argv) {
    if (register_test_cases != nullptr) register_test_cases();
    return Catch::Session().run(argc, argv);
}
