// Exchange of data between the processes that want to become a group, before the group exists.
#pragma once

#include <ucg/api/ucg_oob.h>

#include <cstddef>
#include <memory>

#include "ucg/net/lookup_address_book.hpp"
#include "ucg/schedule/operation.hpp"

namespace ucg {

class group;

// Allgather rounds, one after the other. Owner context.
class exchange {
public:
    exchange() = default;
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    virtual ~exchange() = default;  // gives up a round under way

    [[nodiscard]] virtual schedule::rank_t rank() const noexcept = 0;
    [[nodiscard]] virtual schedule::rank_t size() const noexcept = 0;
    // Returns whether the exchange is private, so that it may carry a secret of the members.
    [[nodiscard]] virtual bool is_private() const noexcept { return false; }
    // Returns the addresses of all members, by their ranks in the exchange, if they are known
    // already. Throws std::bad_alloc.
    [[nodiscard]] virtual net::member_addresses addresses() const { return {}; }
    // Publishes this rank's address, so that the others can look it up after another round. Returns
    // the book for lookups; null if lookups are not available. Throws std::bad_alloc.
    [[nodiscard]] virtual std::shared_ptr<net::lookup_address_book> publish(
        std::span<const std::byte>) {
        return {};
    }
    // Begins a round; the memory must stay valid until it has ended. Never blocks.
    [[nodiscard]] virtual ucs_status_t begin(const void* own, void* all,
                                             std::size_t bytes) noexcept = 0;
    // Advances the round. Returns UCS_INPROGRESS, UCS_OK, or why it failed.
    [[nodiscard]] virtual ucs_status_t test() noexcept = 0;
};

// The exchange by functions of the caller.
class oob_exchange final : public exchange {
public:
    explicit oob_exchange(const ucg_oob_t& oob) noexcept : oob_(oob) {}
    ~oob_exchange() override { release(); }

    [[nodiscard]] schedule::rank_t rank() const noexcept override { return oob_.rank; }
    [[nodiscard]] schedule::rank_t size() const noexcept override { return oob_.size; }
    [[nodiscard]] bool is_private() const noexcept override {
        return (oob_.flags & UCG_OOB_PRIVATE) != 0;
    }
    [[nodiscard]] std::shared_ptr<net::lookup_address_book> publish(
        std::span<const std::byte> address) override;
    [[nodiscard]] ucs_status_t begin(const void* own, void* all,
                                     std::size_t bytes) noexcept override;
    [[nodiscard]] ucs_status_t test() noexcept override;

private:
    void release() noexcept;

    const ucg_oob_t oob_;
    void* request_ = nullptr;
    bool under_way_ = false;
};

// The exchange over an existing group, which must outlive it.
class group_exchange final : public exchange {
public:
    explicit group_exchange(group& parent);
    ~group_exchange() override;

    [[nodiscard]] schedule::rank_t rank() const noexcept override;
    [[nodiscard]] schedule::rank_t size() const noexcept override;
    [[nodiscard]] net::member_addresses addresses() const override;
    [[nodiscard]] ucs_status_t begin(const void* own, void* all,
                                     std::size_t bytes) noexcept override;
    [[nodiscard]] ucs_status_t test() noexcept override { return round_.status(); }

private:
    group& parent_;
    schedule::operation round_;
};

}  // namespace ucg
