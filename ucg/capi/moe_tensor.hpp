// Validates and converts the tensors of C callers.
#pragma once

#include <ucg/api/ucg_moe.h>

#include "ucg/moe/tensor.hpp"

namespace ucg::capi {

// Logs and keeps the first error. The result has no elements if the tensor is absent or refused.
// The operation checks types, elements and rows. Used as a local variable.
class tensor_reader {
public:
    explicit tensor_reader(const char* call) noexcept : call_(call) {}

    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }

    // [rows, elements]
    [[nodiscard]] moe::matrix matrix(const char* name, const ucg_moe_tensor_t& tensor) noexcept;
    // [count, rows, elements]
    [[nodiscard]] moe::stack stack(const char* name, const ucg_moe_tensor_t& tensor,
                                   std::uint32_t count) noexcept;

private:
    [[nodiscard]] bool is_valid(const char* name, const ucg_moe_tensor_t& tensor,
                                std::uint32_t ndims) noexcept;
    void refuse(const char* name, const char* reason,
                ucs_status_t status = UCS_ERR_INVALID_PARAM) noexcept;

    const char* const call_;
    ucs_status_t status_ = UCS_OK;
};

}  // namespace ucg::capi
