// An array of flights.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "ucg/schedule/flight.hpp"
#include "ucs/type/status.h"

namespace ucg::schedule {

// For a number of flights that is known only at run time. Lies in the frame of the algorithm. If
// there is no memory, status() returns UCS_ERR_NO_MEMORY.
class flights {
public:
    explicit flights(std::size_t count) noexcept : all_(new (std::nothrow) flight[count]) {}

    [[nodiscard]] ucs_status_t status() const noexcept {
        return all_ == nullptr ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    [[nodiscard]] flight& operator[](std::size_t i) noexcept { return all_[i]; }

private:
    std::unique_ptr<flight[]> all_;
};

}  // namespace ucg::schedule
