// The environment that all tests of the stand-in run in.
#include <cstdlib>

namespace {

// The stand-in reads its variables when it is used first.
struct settings_of_tests {
    settings_of_tests() {
        ::setenv("STANDIN_DEVICES", "3", 0);
        ::setenv("STANDIN_NO_PEER", "0-2", 0);
    }
};

const settings_of_tests set_at_start;

}  // namespace
