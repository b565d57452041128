// The buffers of one rank for a collective, with input, guard bytes, and the expected output.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ucg/reference/content.hpp"

namespace test {

constexpr std::byte untouched{0xa5};

inline std::unique_ptr<std::byte[]> allocate(std::size_t size) {
    return size == 0 ? nullptr : std::make_unique<std::byte[]>(size);
}

// Each buffer has exactly the needed size, so that a sanitizer detects every overrun. Not movable.
class collective_memory {
public:
    collective_memory(const ucg::reference::problem& wanted, const ucg::reference::elements& like,
                      ucg::reference::rank_t rank)
        : layout_(make_layout(wanted, rank)),
          element_(like.bytes),
          content_(layout_, like, rank, wanted.ranks),
          source_bytes_(layout_.source_elements * like.bytes),
          target_bytes_(layout_.target_elements * like.bytes),
          source_(allocate(source_bytes_)),
          target_(allocate(target_bytes_)),
          may_change_(layout_.target_elements) {
        const auto mark = [this](const std::vector<ucg::reference::block>& blocks) {
            for (const ucg::reference::block& each : blocks)
                std::fill_n(may_change_.begin() + static_cast<std::ptrdiff_t>(each.offset),
                            each.count, true);
        };
        mark(layout_.got);
        if (layout_.input_in_target) mark(layout_.given);
        fill(0);
    }
    collective_memory(const collective_memory&) = delete;
    collective_memory& operator=(const collective_memory&) = delete;

    // Writes the input of a round. All ranks use the same number.
    void fill(std::uint64_t round) {
        round_ = round;
        std::fill_n(source_.get(), source_bytes_, untouched);
        std::fill_n(target_.get(), target_bytes_, untouched);
        content_.write(source_.get(), target_.get(), round);
        source_before_.assign(source_.get(), source_.get() + source_bytes_);
    }
    // Describes the first error of the round; returns an empty string if the output is correct, and
    // all bytes that are neither input nor output are as before.
    [[nodiscard]] std::string wrong() const {
        const std::byte* const source = source_.get();
        const auto changed =
            std::mismatch(source, source + source_bytes_, source_before_.begin()).first;
        if (changed != source + source_bytes_)
            return fmt::format("the source was changed at byte {}", changed - source);
        for (std::size_t element = 0; element < may_change_.size(); ++element) {
            if (may_change_[element]) continue;
            for (std::size_t i = element * element_; i < (element + 1) * element_; ++i)
                if (target_[i] != untouched)
                    return fmt::format("byte {} of the target, outside of blocks, was changed", i);
        }
        return content_.find_error(target_.get(), round_).value_or("");
    }

    // Null if this rank has no such buffer.
    [[nodiscard]] const void* source() const noexcept { return source_.get(); }
    [[nodiscard]] void* target() const noexcept { return target_.get(); }
    [[nodiscard]] const ucg::reference::layout& layout() const noexcept { return layout_; }

private:
    ucg::reference::layout layout_;
    std::size_t element_;
    ucg::reference::content content_;
    std::size_t source_bytes_, target_bytes_;
    std::unique_ptr<std::byte[]> source_, target_;
    std::vector<std::byte> source_before_;
    std::vector<bool> may_change_;  // elements of the target
    std::uint64_t round_ = 0;
};

}  // namespace test
