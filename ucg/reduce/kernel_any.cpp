#include "ucg/reduce/kernel.hpp"
#include "ucg/reduce/kernel_bodies.hpp"

namespace ucg::reduce {

kernel find_for_any(element type, operation op) noexcept {
    return find(type, op);
}

}  // namespace ucg::reduce
