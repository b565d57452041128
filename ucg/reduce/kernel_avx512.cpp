#include "ucg/reduce/kernel_bodies.hpp"
#include "ucg/reduce/kernel_builds.hpp"

namespace ucg::reduce {

kernel find_for_avx512(element what, operation how) noexcept {
    return find(what, how);
}

}  // namespace ucg::reduce
