#include "test/conformance/support/environment.hpp"

namespace conformance {

ucs::config::source environment::config() const {
    return ucs::config::source::empty();
}

}  // namespace conformance
