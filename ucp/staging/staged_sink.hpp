// Writes a buffer on a device, part after part, behind the fragments that carry its data.
#pragma once

#include <array>

#include "ucp/core/request.hpp"
#include "ucp/staging/device_copies.hpp"

namespace ucp {

// Collects arrived bytes in parts of host memory, which are copied to the device while more bytes
// arrive. The receive ends when the last copy has ended. Owned by the buffer of the receive. Owner
// context.
class staged_sink final : public dt::device_pipeline {
public:
    // Gives the buffer of a receive a sink if that is worthwhile for a message of this length.
    // Without one, the bytes are copied to the device as they arrive.
    static void attach(request& receive, dt::recv_buffer& buffer, std::size_t length) noexcept;
    // Returns the sink of a buffer, nullptr if it has none.
    [[nodiscard]] static staged_sink* of(const dt::recv_buffer& buffer) noexcept {
        return static_cast<staged_sink*>(buffer.pipeline());
    }
    ~staged_sink() override;

    ucs_status_t write(std::size_t offset, const void* from, std::size_t length) noexcept override;

    // No more bytes follow, and the receive has this outcome. Returns false if no copy is under
    // way: `outcome` is then changed to the error of a copy, if there was one. Otherwise `done` is
    // called when the last copy has ended, with the outcome of the whole.
    [[nodiscard]] bool end(ucs_status_t& outcome,
                           void (*done)(request& receive, ucs_status_t outcome)) noexcept;

private:
    static constexpr std::size_t most_parts = 8;

    struct part {
        staged_sink* owner = nullptr;
        std::byte* bytes = nullptr;
        std::size_t from = 0;
        std::size_t length = 0;
        uct::completion copied{};
        bool is_copying = false;
    };

    staged_sink(request& receive, dt::recv_buffer& buffer, device_copies& copies) noexcept;
    static void on_copied(uct::completion& copied) noexcept;
    [[nodiscard]] part* open_part(std::size_t offset) noexcept;
    void copy(part& full) noexcept;
    void copy_open() noexcept;

    request& receive_;
    dt::recv_buffer& buffer_;
    device_copies& copies_;
    std::array<part, most_parts> parts_;
    part* open_ = nullptr;  // takes the next bytes
    unsigned copying_ = 0;  // parts
    ucs_status_t outcome_ = UCS_OK;
    void (*done_)(request& receive, ucs_status_t outcome) = nullptr;
};

// Ends the use of a receive's buffer. Returns false if copies to the device are under way: `done`
// is called then when they have ended. Otherwise `outcome` is the outcome of the receive.
[[nodiscard]] inline bool finish_buffer(dt::recv_buffer& buffer, ucs_status_t& outcome,
                                        void (*done)(request& receive, ucs_status_t outcome)) {
    if (buffer.pipeline() != nullptr && staged_sink::of(buffer)->end(outcome, done)) [[unlikely]]
        return false;
    outcome = buffer.finish(outcome);
    return true;
}

}  // namespace ucp
