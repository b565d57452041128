// Reads a buffer on a device, part after part, ahead of the fragments that carry its data.
#pragma once

#include <array>

#include "ucp/core/request.hpp"
#include "ucp/staging/device_copies.hpp"

namespace ucp {

// Copies parts of a send's buffer to host memory while earlier parts are sent. The send waits while
// the part that it needs is not there yet; the end of the copy continues it. Each part that is in
// use counts in the send's `parts`, so the send does not end before. Owned by the buffer of the
// send. Owner context.
class staged_source final : public dt::device_pipeline {
public:
    // Gives the send a source, unless it has one. Returns UCS_ERR_NO_MEMORY (logged), or
    // UCS_ERR_UNSUPPORTED if this worker cannot copy while it does other work.
    [[nodiscard]] static ucs_status_t attach(request& send) noexcept;
    // Returns the source of a send, nullptr if it has none.
    [[nodiscard]] static staged_source* of(const request& send) noexcept;
    ~staged_source() override;

    // A range of the data in host memory.
    struct range {
        std::byte* bytes = nullptr;
        std::size_t length = 0;
        uct::completion* used = nullptr;  // counts the operations that read it
    };
    // Finds the bytes from `offset` on, up to the end of their part. Offsets ascend from call to
    // call. Returns UCS_INPROGRESS if they are not there yet: the send continues when they are. Or
    // the error of the device, after which the send must end.
    [[nodiscard]] ucs_status_t find(std::size_t offset, range& into) noexcept;
    // All bytes in front of `offset` were given to the transport.
    void pass(std::size_t offset) noexcept;
    // The send ends early: parts that nobody reads any more are given up.
    void abandon() noexcept;

private:
    static constexpr std::size_t most_parts = 8;

    enum class phase : std::uint8_t {
        idle,
        copying,  // from the device
        ready,    // found, or waiting for its turn
        passed,   // given to the transport, which still reads it
    };
    struct part {
        staged_source* owner = nullptr;
        std::byte* bytes = nullptr;
        std::size_t from = 0;
        std::size_t length = 0;
        uct::completion copied{};
        uct::completion used{};
        phase state = phase::idle;
    };

    staged_source(request& send, device_copies& copies) noexcept;
    static void on_copied(uct::completion& copied) noexcept;
    static void on_used(uct::completion& used) noexcept;
    void copy_ahead() noexcept;
    void copy(part& into) noexcept;
    static void give_up(part& done) noexcept;
    [[nodiscard]] const part* find_part(std::size_t offset) const noexcept;

    request& send_;
    device_copies& copies_;
    std::array<part, most_parts> parts_;
    std::size_t next_ = 0;  // all bytes below are copied, or being copied
    bool is_awaited_ = false;
    bool is_abandoned_ = false;
};

}  // namespace ucp
