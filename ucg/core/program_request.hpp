// Request for an operation of all ranks that is not a collective: the exchanges of MoE.
#pragma once

#include <memory>

#include "ucg/core/request.hpp"
#include "ucg/core/signature.hpp"
#include "ucg/schedule/operation.hpp"
#include "ucg/schedule/task.hpp"

namespace ucg {

// Limits how often a program can be started.
enum class program_starts : std::uint8_t { any_number, one };

// Owns the program. Owner context.
class program_request final : public request {
public:
    // `timeout`, `callback`: see request. Throws std::bad_alloc.
    program_request(group& group, std::unique_ptr<schedule::program> program, program_kind kind,
                    program_starts starts = program_starts::any_number, double timeout = 0,
                    const listener& callback = {});

    [[nodiscard]] schedule::program& what() noexcept { return *program_; }
    [[nodiscard]] const char* name() const noexcept override { return ucg::name(kind_); }
    [[nodiscard]] const char* algorithm() const noexcept override { return name(); }
    [[nodiscard]] const char* reason() const noexcept override { return "the only one there is"; }
    [[nodiscard]] signature get_signature() const noexcept override;

private:
    [[nodiscard]] ucs_status_t may_start() noexcept override;

    const program_kind kind_;
    const program_starts starts_;
    bool started_ = false;
    const std::unique_ptr<schedule::program> program_;
    schedule::operation operation_;  // runs program_, so it is destroyed first
};

}  // namespace ucg
