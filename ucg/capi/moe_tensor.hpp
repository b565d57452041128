// Reads the tensors of C callers.
#pragma once

#include <ucg/api/ucg_moe.h>

#include "ucg/moe/tensor.hpp"

namespace ucg::capi {

// Keeps the first thing that is wrong, which it logs. What it returns has no elements where the
// tensor is not there, or is refused. Which types, elements and rows fit is for the operation to
// say. Lies on the stack.
class tensor_reader {
public:
    explicit tensor_reader(const char* call) noexcept : call_(call) {}

    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }

    // [rows, elements]
    [[nodiscard]] moe::matrix matrix(const char* which, const ucg_moe_tensor_t& what) noexcept;
    // [count, rows, elements]
    [[nodiscard]] moe::stack stack(const char* which, const ucg_moe_tensor_t& what,
                                   std::uint32_t count) noexcept;

private:
    [[nodiscard]] bool is_there(const char* which, const ucg_moe_tensor_t& what,
                                std::uint32_t ndims) noexcept;
    void refuse(const char* which, const char* why,
                ucs_status_t status = UCS_ERR_INVALID_PARAM) noexcept;

    const char* const call_;
    ucs_status_t status_ = UCS_OK;
};

}  // namespace ucg::capi
