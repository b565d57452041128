#include "ucg/reduce/kernel.hpp"

namespace ucg::reduce {
namespace {

processor best() noexcept {
    if (is_supported(processor::avx512)) return processor::avx512;
    return is_supported(processor::avx2) ? processor::avx2 : processor::any;
}

// GCC 12 compiles a complex product to fused multiply-add instructions, which round differently,
// even with -ffp-contract=off. AVX-512 always has these instructions; the other builds never use
// them.
bool would_be_fused(element type, operation op) noexcept {
    return op == operation::product && (type == element::complex32 || type == element::complex64);
}

}  // namespace

bool is_supported(processor instructions) noexcept {
    switch (instructions) {
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

kernel find_kernel(element type, operation op) noexcept {
    static const processor supported = best();
    return find_kernel(type, op, supported);
}

kernel find_kernel(element type, operation op, processor instructions) noexcept {
#if defined(__x86_64__)
    if (instructions == processor::avx512 && would_be_fused(type, op))
        instructions = processor::avx2;
    if (instructions == processor::avx512) return find_for_avx512(type, op);
    if (instructions == processor::avx2) return find_for_avx2(type, op);
#endif
    static_cast<void>(instructions);
    return find_for_any(type, op);
}

}  // namespace ucg::reduce
