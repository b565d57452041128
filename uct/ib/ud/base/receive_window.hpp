// Window of the receiving side: the next expected packet, and packets that came out of order.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <new>
#include <utility>

#include "uct/ib/ud/base/psn.hpp"

namespace uct::ud {

// Tracks the next expected packet, and has slots for packets that came early. `Item` is what the
// owner keeps of a packet; a default `Item` means none. Most connections never see a packet out of
// order, so the slots are allocated with the first such packet. Owner context.
template<class Item>
class receive_window {
public:
    static constexpr std::uint32_t slots = 64;

    enum class turn : std::uint8_t {
        now,    // the next expected packet
        early,  // to be kept until its turn
        again,  // a duplicate
        far,    // too early to be kept
    };

    explicit receive_window(psn expected) noexcept : expected_(expected) {}

    [[nodiscard]] psn expected() const noexcept { return expected_; }
    [[nodiscard]] turn turn_of(psn number) const noexcept {
        const std::int32_t ahead = number - expected_;
        if (ahead == 0) return turn::now;
        if (ahead < 0) return turn::again;
        if (static_cast<std::uint32_t>(ahead) >= slots) return turn::far;
        return (early_ >> (ahead - 1) & 1U) != 0 ? turn::again : turn::early;
    }
    // Records that the expected packet has come.
    void advance() noexcept {
        ++expected_;
        early_ >>= 1U;
    }
    // Keeps an early packet. Returns false if there is no memory.
    [[nodiscard]] bool keep(psn number, const Item& item) noexcept {
        if (kept_ == nullptr) kept_.reset(new (std::nothrow) std::array<Item, slots>());
        if (kept_ == nullptr) return false;
        slot_of(number) = item;
        early_ |= std::uint64_t{1} << (number - expected_ - 1);
        return true;
    }
    // Removes and returns the expected packet if it was kept.
    [[nodiscard]] Item take() noexcept {
        if (kept_ == nullptr) return Item{};
        return std::exchange(slot_of(expected_), Item{});
    }

    // Bit mask of the kept packets. The lowest bit stands for the packet after the expected one.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return early_; }
    [[nodiscard]] unsigned kept() const noexcept {
        return static_cast<unsigned>(std::popcount(early_));
    }

    // Removes all kept packets and calls `release` with each.
    template<class Release>
    void drop(Release&& release) noexcept {
        for (std::uint32_t i = 1; i < slots && early_ != 0; ++i) {
            if ((early_ >> (i - 1) & 1U) == 0) continue;
            release(std::exchange(slot_of(expected_ + i), Item{}));
        }
        early_ = 0;
    }
    // Frees the slots unless they hold packets.
    void release_slots() noexcept {
        if (early_ == 0) kept_.reset();
    }
    // Sets the expected number. No packet may be kept.
    void restart(psn expected) noexcept { expected_ = expected; }

private:
    Item& slot_of(psn number) noexcept { return (*kept_)[number.value() % slots]; }

    psn expected_;
    std::uint64_t early_ = 0;
    std::unique_ptr<std::array<Item, slots>> kept_;
};

}  // namespace uct::ud
