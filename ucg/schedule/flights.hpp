// Many messages under way.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "ucg/schedule/flight.hpp"
#include "ucs/type/status.h"

namespace ucg::schedule {

// As many flights as are only known at run time. Lies in the frame of the algorithm.
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
