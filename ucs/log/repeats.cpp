#include "ucs/log/repeats.hpp"

#include <fmt/format.h>

#include <iterator>
#include <type_traits>

namespace ucs::log {
namespace {

// FNV-1a is sufficient: the texts are short, and there is no secret to protect.
constexpr std::uint64_t first_hash = 0xcbf29ce484222325U;

std::uint64_t add_to_hash(std::uint64_t hash, std::string_view bytes) noexcept {
    for (const char each : bytes) {
        hash ^= static_cast<unsigned char>(each);
        hash *= 0x100000001b3U;
    }
    return hash;
}

struct text_hasher {
    std::uint64_t hash;
    template<class Value>
    std::uint64_t operator()(const Value& value) const noexcept {
        if constexpr (std::is_same_v<Value, const char*>) {
            return value == nullptr ? hash : add_to_hash(hash, value);
        } else {
            return hash;
        }
    }
};

}  // namespace

bool is_written(std::uint64_t number, std::uint64_t first) noexcept {
    if (number <= first) return true;
    while (number % 10 == 0)
        number /= 10;
    return number == 1;
}

void write_numbered(const component& source, level severity, fmt::string_view format,
                    fmt::format_args args, std::uint64_t number, std::uint64_t first) noexcept {
    try {
        // A text of up to 500 bytes needs no allocation, because the line may report a lack of
        // memory.
        fmt::memory_buffer text;
        fmt::vformat_to(std::back_inserter(text), format, args);
        if (number >= first) {
            fmt::format_to(std::back_inserter(text),
                           " ({} of the kind so far, only powers of ten are reported)", number);
        }
        write(source, severity, {text.data(), text.size()});
    } catch (...) {
        write(source, severity, {format.data(), format.size()});
    }
}

std::uint64_t kind_of(fmt::string_view format, fmt::format_args args) noexcept {
    std::uint64_t hash = add_to_hash(first_hash, {format.data(), format.size()});
    for (int i = 0;; ++i) {
        const auto each = args.get(i);
        if (!each) break;
        hash = fmt::visit_format_arg(text_hasher{hash}, each);
    }
    return hash == 0 ? 1 : hash;
}

std::uint64_t line_counts::add(std::uint64_t kind) noexcept {
    return slot_of(kind).count.fetch_add(1, std::memory_order_relaxed) + 1;
}

void line_counts::reset() noexcept {
    for (slot& each : table_) {
        each.kind.store(0, std::memory_order_relaxed);
        each.count.store(0, std::memory_order_relaxed);
    }
    others_.count.store(0, std::memory_order_relaxed);
}

line_counts::slot& line_counts::slot_of(std::uint64_t kind) noexcept {
    for (std::size_t probe = 0; probe < longest_probe; ++probe) {
        slot& each = table_[(kind + probe) % slots];
        std::uint64_t found = each.kind.load(std::memory_order_relaxed);
        if (found == 0 &&
            each.kind.compare_exchange_strong(found, kind, std::memory_order_relaxed)) {
            return each;
        }
        if (found == kind) return each;
    }
    return others_;
}

}  // namespace ucs::log
