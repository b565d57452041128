#include "ucs/arch/copy.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "ucs/arch/cpu.hpp"

namespace ucs::arch {
namespace {

using copy_function = void (*)(char* to, const char* from, std::size_t size) noexcept;

#if defined(__x86_64__)

// Each variant copies whole lines to a line-aligned destination.
__attribute__((target("avx512f"))) void lines_avx512(char* to, const char* from,
                                                     std::size_t size) noexcept {
    for (std::size_t offset = 0; offset < size; offset += 64) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + offset),
                            _mm512_loadu_si512(from + offset));
    }
}

__attribute__((target("avx2"))) void lines_avx2(char* to, const char* from,
                                                std::size_t size) noexcept {
    for (std::size_t offset = 0; offset < size; offset += 64) {
        const auto* source = reinterpret_cast<const __m256i*>(from + offset);
        auto* target = reinterpret_cast<__m256i*>(to + offset);
        const __m256i low = _mm256_loadu_si256(source);
        const __m256i high = _mm256_loadu_si256(source + 1);
        _mm256_stream_si256(target, low);
        _mm256_stream_si256(target + 1, high);
    }
}

void lines_sse2(char* to, const char* from, std::size_t size) noexcept {
    for (std::size_t offset = 0; offset < size; offset += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + offset),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + offset)));
    }
}

copy_function choose() noexcept {
    if (cpu().avx512f) return lines_avx512;
    if (cpu().avx2) return lines_avx2;
    return lines_sse2;
}

constinit std::atomic<copy_function> lines{nullptr};

#endif

}  // namespace

void copy_nontemporal(void* to, const void* from, std::size_t size) noexcept {
#if defined(__x86_64__)
    constexpr std::size_t line = 64;
    auto* target = static_cast<char*>(to);
    const auto* source = static_cast<const char*>(from);
    const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
    if (size < head + line) {
        std::memcpy(to, from, size);
        return;
    }
    copy_function copy_lines = lines.load(std::memory_order_relaxed);
    if (copy_lines == nullptr) {
        copy_lines = choose();
        lines.store(copy_lines, std::memory_order_relaxed);
    }
    const std::size_t middle = (size - head) / line * line;
    std::memcpy(target, source, head);
    copy_lines(target + head, source + head, middle);
    std::memcpy(target + head + middle, source + head + middle, size - head - middle);
    _mm_sfence();
#else
    std::memcpy(to, from, size);
#endif
}

std::size_t nontemporal_threshold() noexcept {
    static const std::size_t threshold = [] {
        const cache_sizes caches = read_caches();
        const std::size_t sharers = std::max(caches.l3_sharers, 1U);
        const std::size_t part = std::max(caches.l3 / sharers, caches.l2);
        return std::max(part / 4 * 3, detail::never_large);
    }();
    return threshold;
}

void detail::copy_large(void* to, const void* from, std::size_t size) noexcept {
    if (size >= nontemporal_threshold()) {
        copy_nontemporal(to, from, size);
    } else {
        std::memcpy(to, from, size);
    }
}

}  // namespace ucs::arch
