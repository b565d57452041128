// Many short lists of numbers in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ucg::moe {

// A list for each channel of each of `owners`. Filled in two passes over the same entries: first
// count(), then, after open(), add(). Value; std::bad_alloc from resize() and open().
class lists {
public:
    using number = std::uint32_t;

    void resize(std::size_t owners, std::uint32_t channels) {
        channels_ = channels;
        ends_.assign(owners * channels + 1, 0);
    }
    void count(std::size_t owner, std::uint32_t channel) noexcept {
        ++ends_[at(owner, channel) + 1];
    }
    void open() {
        for (std::size_t i = 1; i < ends_.size(); ++i)
            ends_[i] += ends_[i - 1];
        all_.resize(ends_.back());
        added_ = std::vector<std::size_t>(ends_.begin(), ends_.end() - 1);
    }
    void add(std::size_t owner, std::uint32_t channel, number what) noexcept {
        all_[added_[at(owner, channel)]++] = what;
    }
    void close() { added_ = {}; }

    [[nodiscard]] std::span<const number> of(std::size_t owner,
                                             std::uint32_t channel) const noexcept {
        const std::size_t i = at(owner, channel);
        return std::span(all_).subspan(ends_[i], ends_[i + 1] - ends_[i]);
    }
    // How many were counted.
    [[nodiscard]] std::uint32_t size(std::size_t owner, std::uint32_t channel) const noexcept {
        const std::size_t i = at(owner, channel);
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
    [[nodiscard]] std::size_t at(std::size_t owner, std::uint32_t channel) const noexcept {
        return owner * channels_ + channel;
    }
    std::uint32_t channels_ = 0;
    std::vector<std::size_t> ends_;  // entry i is where list i begins
    std::vector<std::size_t> added_;
    std::vector<number> all_;
};

}  // namespace ucg::moe
