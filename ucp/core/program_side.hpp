// The program's side of an endpoint.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ucp/api/ucp.h"

namespace ucp {

class ep;

// Parameters of ucp_ep_create with defaults. The address itself goes to the peer object.
struct ep_params {
    ucp_err_handling_mode_t error_mode = UCP_ERR_HANDLING_MODE_NONE;
    ucp_err_handler_t error_handler{nullptr, nullptr};
    void* user_data = nullptr;
    bool no_loopback = false;
    bool apart = false;  // see ucp/capi/private_flags.hpp
    std::string_view name;
};

// Whether the program owns an endpoint, and what it has set. Part of an endpoint. Owner context.
class program_side {
public:
    // The program takes over the endpoint.
    void take(const ep_params& params, std::string name) noexcept {
        is_owner_ = true;
        error_handler_ = params.error_handler;
        user_data_ = params.user_data;
        handles_errors_ = params.error_mode != UCP_ERR_HANDLING_MODE_NONE;
        is_loopback_ = !params.no_loopback;
        name_ = std::move(name);
    }
    // The program gives the endpoint up; no callback is called any more.
    void release() noexcept {
        is_owner_ = false;
        error_handler_.cb = nullptr;
    }
    // Changes the error handler or user data (ucp_ep_modify_nb).
    void modify(const ucp_err_handler_t* handler, void* const* user_data) noexcept {
        if (handler != nullptr) error_handler_ = *handler;
        if (user_data != nullptr) user_data_ = *user_data;
    }
    // Calls the error handler, if there is one and it has not been called yet.
    void notify(ep& failed, ucs_status_t status) {
        if (!handles_errors_ || error_handler_.cb == nullptr) return;
        const ucp_err_handler_t handler = error_handler_;
        error_handler_.cb = nullptr;
        void* const arg = user_data_ != nullptr ? user_data_ : handler.arg;
        handler.cb(arg, reinterpret_cast<ucp_ep_h>(&failed), status);
    }

    [[nodiscard]] bool is_owner() const noexcept { return is_owner_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] void* user_data() const noexcept { return user_data_; }
    // Returns whether the error handling mode is another than NONE.
    [[nodiscard]] bool handles_errors() const noexcept { return handles_errors_; }
    // Returns whether an endpoint to the worker itself is its own peer.
    [[nodiscard]] bool allows_loopback() const noexcept { return is_loopback_; }

private:
    ucp_err_handler_t error_handler_{nullptr, nullptr};
    void* user_data_ = nullptr;
    std::string name_;
    bool is_owner_ = false;
    bool handles_errors_ = false;
    bool is_loopback_ = true;
};

}  // namespace ucp
