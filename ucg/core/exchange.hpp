// How those who want to become a group tell each other who they are, before there is a group.
#pragma once

#include <ucg/api/ucg_oob.h>

#include <cstddef>
#include <memory>

#include "ucg/net/asked_book.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg {

class group;

// Rounds, one after the other, in which every member gives as many bytes as the others and gets
// those of all, in the order of ranks. Owner context.
class exchange {
public:
    exchange() = default;
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    virtual ~exchange() = default;  // gives up a round under way

    [[nodiscard]] virtual schedule::rank_t rank() const noexcept = 0;
    [[nodiscard]] virtual schedule::rank_t size() const noexcept = 0;
    // Returns whether a secret of the members may go over it.
    [[nodiscard]] virtual bool is_private() const noexcept { return false; }
    // Where all members are found, by their ranks here, if that is known already. std::bad_alloc.
    [[nodiscard]] virtual net::contacts contacts() const { return {}; }
    // Lets the others look an address up, once another round is over, in what is returned; none: it
    // cannot be. std::bad_alloc.
    [[nodiscard]] virtual std::shared_ptr<net::asked_book> publish(std::span<const std::byte>) {
        return {};
    }
    // Begins a round; memory stays where it is until it ended. Never blocks.
    [[nodiscard]] virtual ucs_status_t begin(const void* own, void* all,
                                             std::size_t bytes) noexcept = 0;
    // Moves the round on: UCS_INPROGRESS, UCS_OK or why it failed.
    [[nodiscard]] virtual ucs_status_t test() noexcept = 0;
};

// By the functions of the caller's.
class oob_exchange final : public exchange {
public:
    explicit oob_exchange(const ucg_oob_t& by) noexcept : by_(by) {}
    ~oob_exchange() override { release(); }

    [[nodiscard]] schedule::rank_t rank() const noexcept override { return by_.rank; }
    [[nodiscard]] schedule::rank_t size() const noexcept override { return by_.size; }
    [[nodiscard]] bool is_private() const noexcept override {
        return (by_.flags & UCG_OOB_PRIVATE) != 0;
    }
    [[nodiscard]] std::shared_ptr<net::asked_book> publish(
        std::span<const std::byte> address) override;
    [[nodiscard]] ucs_status_t begin(const void* own, void* all,
                                     std::size_t bytes) noexcept override;
    [[nodiscard]] ucs_status_t test() noexcept override;

private:
    void release() noexcept;

    const ucg_oob_t by_;
    void* request_ = nullptr;
    bool under_way_ = false;
};

// Over a group that there is already. The parent outlives it.
class group_exchange final : public exchange {
public:
    explicit group_exchange(group& parent);
    ~group_exchange() override;

    [[nodiscard]] schedule::rank_t rank() const noexcept override;
    [[nodiscard]] schedule::rank_t size() const noexcept override;
    [[nodiscard]] net::contacts contacts() const override;
    [[nodiscard]] ucs_status_t begin(const void* own, void* all,
                                     std::size_t bytes) noexcept override;
    [[nodiscard]] ucs_status_t test() noexcept override { return round_.status(); }

private:
    group& parent_;
    schedule::operation round_;
};

}  // namespace ucg
