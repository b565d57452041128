// Part-wise copies of a buffer in memory of a device.
#pragma once

#include <cstddef>

#include "ucs/type/status.h"

namespace ucp::dt {

// Moves the data of one buffer through host memory, part after part, while the program and the
// network go on. Owned by the buffer. Owner context.
class device_pipeline {
public:
    // Called when no copy is under way.
    virtual ~device_pipeline() = default;
    device_pipeline(const device_pipeline&) = delete;
    device_pipeline& operator=(const device_pipeline&) = delete;

    // Takes bytes that belong at `offset` of the buffer, whose own copy may continue after the
    // call. Only for a buffer that receives. Returns UCS_OK or an error, which is logged.
    virtual ucs_status_t write(std::size_t offset, const void* from, std::size_t length) noexcept {
        static_cast<void>(offset);
        static_cast<void>(from);
        static_cast<void>(length);
        return UCS_ERR_UNSUPPORTED;
    }

protected:
    device_pipeline() noexcept = default;
};

}  // namespace ucp::dt
