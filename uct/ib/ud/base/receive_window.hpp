// Packets that arrived, until their turn comes.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <new>
#include <utility>

#include "uct/ib/ud/base/psn.hpp"

namespace uct::ud {

// Which packet is next, and a place for those that came too early. `Item` is what the owner keeps
// of a packet; a default one means none. Most connections never see a packet out of order, so the
// places are made with the first. Owner context.
template<class Item>
class receive_window {
public:
    static constexpr std::uint32_t places = 64;

    enum class turn : std::uint8_t {
        now,    // the next one
        early,  // to be kept
        again,  // was here before
        far,    // too early to be kept
    };

    explicit receive_window(psn expected) noexcept : expected_(expected) {}

    [[nodiscard]] psn expected() const noexcept { return expected_; }
    [[nodiscard]] turn turn_of(psn number) const noexcept {
        const std::int32_t ahead = number - expected_;
        if (ahead == 0) return turn::now;
        if (ahead < 0) return turn::again;
        if (static_cast<std::uint32_t>(ahead) >= places) return turn::far;
        return (early_ >> (ahead - 1) & 1U) != 0 ? turn::again : turn::early;
    }
    // The next one has come.
    void advance() noexcept {
        ++expected_;
        early_ >>= 1U;
    }
    // One whose turn is early. False: no memory for it.
    [[nodiscard]] bool keep(psn number, const Item& item) noexcept {
        if (kept_ == nullptr) kept_.reset(new (std::nothrow) std::array<Item, places>());
        if (kept_ == nullptr) return false;
        place_of(number) = item;
        early_ |= std::uint64_t{1} << (number - expected_ - 1);
        return true;
    }
    // The one whose turn is now, if it was kept.
    [[nodiscard]] Item take() noexcept {
        if (kept_ == nullptr) return Item{};
        return std::exchange(place_of(expected_), Item{});
    }

    // Those behind the expected one that are here: the lowest bit is of expected + 1.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return early_; }
    [[nodiscard]] unsigned kept() const noexcept {
        return static_cast<unsigned>(std::popcount(early_));
    }

    // Nothing is kept any more; `release` gets what was.
    template<class Release>
    void drop(Release&& release) noexcept {
        for (std::uint32_t i = 1; i < places && early_ != 0; ++i) {
            if ((early_ >> (i - 1) & 1U) == 0) continue;
            release(std::exchange(place_of(expected_ + i), Item{}));
        }
        early_ = 0;
    }
    // Frees the places unless they hold packets.
    void release_places() noexcept {
        if (early_ == 0) kept_.reset();
    }
    // From now on that number is expected; nothing is kept.
    void restart(psn expected) noexcept { expected_ = expected; }

private:
    Item& place_of(psn number) noexcept { return (*kept_)[number.value() % places]; }

    psn expected_;
    std::uint64_t early_ = 0;
    std::unique_ptr<std::array<Item, places>> kept_;
};

}  // namespace uct::ud
