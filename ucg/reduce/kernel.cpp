#include "ucg/reduce/kernel.hpp"

#include "ucg/reduce/kernel_builds.hpp"

namespace ucg::reduce {
namespace {

processor best() noexcept {
    if (is_here(processor::avx512)) return processor::avx512;
    return is_here(processor::avx2) ? processor::avx2 : processor::any;
}

// GCC 12 makes fused instructions of a complex product, which round otherwise, whatever
// -ffp-contract says. AVX-512 has them always, the other builds never.
bool would_be_fused(element what, operation how) noexcept {
    return how == operation::product && (what == element::complex32 || what == element::complex64);
}

}  // namespace

bool is_here(processor which) noexcept {
    switch (which) {
#if defined(__x86_64__)
        case processor::avx2:
            return __builtin_cpu_supports("avx2") != 0;
        case processor::avx512:
            return __builtin_cpu_supports("avx512f") != 0 &&
                   __builtin_cpu_supports("avx512bw") != 0 &&
                   __builtin_cpu_supports("avx512dq") != 0 &&
                   __builtin_cpu_supports("avx512vl") != 0;
#else
        case processor::avx2:
        case processor::avx512:
            return false;
#endif
        case processor::any:
            break;
    }
    return true;
}

kernel find_kernel(element what, operation how) noexcept {
    static const processor here = best();
    return find_kernel(what, how, here);
}

kernel find_kernel(element what, operation how, processor with) noexcept {
#if defined(__x86_64__)
    if (with == processor::avx512 && would_be_fused(what, how)) with = processor::avx2;
    if (with == processor::avx512) return find_for_avx512(what, how);
    if (with == processor::avx2) return find_for_avx2(what, how);
#endif
    static_cast<void>(with);
    return find_for_any(what, how);
}

}  // namespace ucg::reduce
