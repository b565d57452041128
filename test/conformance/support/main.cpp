// Catch2 itself, and main. A target of its own, because Catch2's code is not for our warnings.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

namespace conformance {
void register_cases();
}

int main(int argc, char** argv) {
    conformance::register_cases();
    return Catch::Session().run(argc, argv);
}
