// Many short lists of numbers in one allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ucg::moe {

// One list for each pair of an owner and a channel. The caller fills the lists in two passes over
// the same entries: count() for each entry, then open(), then add() for each entry, then close().
// Value. resize() and open() throw std::bad_alloc.
class lists {
public:
    using number = std::uint32_t;

    void resize(std::size_t owners, std::uint32_t channels) {
        channels_ = channels;
        ends_.assign(owners * channels + 1, 0);
    }
    void count(std::size_t owner, std::uint32_t channel) noexcept {
        ++ends_[index(owner, channel) + 1];
    }
    void open() {
        for (std::size_t i = 1; i < ends_.size(); ++i)
            ends_[i] += ends_[i - 1];
        all_.resize(ends_.back());
        added_ = std::vector<std::size_t>(ends_.begin(), ends_.end() - 1);
    }
    void add(std::size_t owner, std::uint32_t channel, number value) noexcept {
        all_[added_[index(owner, channel)]++] = value;
    }
    void close() { added_ = {}; }

    [[nodiscard]] std::span<const number> list(std::size_t owner,
                                               std::uint32_t channel) const noexcept {
        const std::size_t i = index(owner, channel);
        return std::span(all_).subspan(ends_[i], ends_[i + 1] - ends_[i]);
    }
    // Number of entries that were counted.
    [[nodiscard]] std::uint32_t size(std::size_t owner, std::uint32_t channel) const noexcept {
        const std::size_t i = index(owner, channel);
        return static_cast<std::uint32_t>(ends_[i + 1] - ends_[i]);
    }
    [[nodiscard]] std::uint32_t channels() const noexcept { return channels_; }
    [[nodiscard]] std::uint32_t longest(std::size_t owner) const noexcept {
        std::uint32_t most = 0;
        for (std::uint32_t c = 0; c < channels_; ++c)
            most = size(owner, c) > most ? size(owner, c) : most;
        return most;
    }

private:
    [[nodiscard]] std::size_t index(std::size_t owner, std::uint32_t channel) const noexcept {
        return owner * channels_ + channel;
    }
    std::uint32_t channels_ = 0;
    std::vector<std::size_t> ends_;  // list i is the range from entry i to entry i + 1
    std::vector<std::size_t> added_;
    std::vector<number> all_;
};

}  // namespace ucg::moe
