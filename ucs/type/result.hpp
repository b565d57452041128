// A value, or the status of the failure.
#pragma once

#include <cassert>
#include <utility>
#include <variant>

#include "ucs/type/status.h"

namespace ucs {

// Return type of fallible functions. A result never holds UCS_OK without a value; functions
// without a value return ucs_status_t itself. Value semantics, any thread.
template<class T>
class [[nodiscard]] result {
public:
    result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(ucs_status_t error) : state_(std::in_place_index<1>, error) { assert(error != UCS_OK); }

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] ucs_status_t status() const noexcept {
        return ok() ? UCS_OK : *std::get_if<1>(&state_);
    }

    T& operator*() & noexcept { return *std::get_if<0>(&state_); }
    const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
    T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    T* operator->() noexcept { return std::get_if<0>(&state_); }
    const T* operator->() const noexcept { return std::get_if<0>(&state_); }

private:
    std::variant<T, ucs_status_t> state_;
};

}  // namespace ucs
