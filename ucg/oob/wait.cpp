#include "ucg/oob/wait.hpp"

#include <time.h>

#include <algorithm>

namespace ucg::oob {

ucs_status_t gather(const ucg_oob_t& over, const void* send, void* recv,
                    std::size_t bytes) noexcept {
    constexpr long shortest = 2'000, longest = 1'000'000;  // nanoseconds
    void* request = nullptr;
    ucs_status_t status = over.allgather(over.arg, send, recv, bytes, &request);
    if (status != UCS_OK) return status;
    for (long rest = shortest; (status = over.test(over.arg, request)) == UCS_INPROGRESS;
         rest = std::min(2 * rest, longest)) {
        const timespec time{0, rest};
        ::nanosleep(&time, nullptr);
    }
    over.release(over.arg, request);
    return status;
}

}  // namespace ucg::oob
