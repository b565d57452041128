#include "ucg/core/program_request.hpp"

#include "ucg/core/group.hpp"
#include "ucg/schedule/log.hpp"

namespace ucg {

program_request::program_request(group& group, std::unique_ptr<schedule::program> program,
                                 program_kind kind, program_starts starts, double timeout,
                                 const listener& callback)
    : request(group, timeout, callback),
      kind_(kind),
      starts_(starts),
      program_(std::move(program)),
      operation_(group.fabric(), group.frames()) {
    operation_.init(*program_);
    set_work(&operation_);
}

ucs_status_t program_request::may_start() noexcept {
    if (started_ && starts_ == program_starts::one) {
        ucs::log::error(core_log, "{} can be started once: make another request", name());
        return UCS_ERR_INVALID_PARAM;
    }
    started_ = true;
    return UCS_OK;
}

signature program_request::get_signature() const noexcept {
    signature made{};
    made.operation = signature::program + static_cast<std::uint32_t>(kind_);
    made.form = program_->form();
    return made;
}

}  // namespace ucg
