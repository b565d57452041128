// Interface: one rank's part in an operation, with its request and its memory.
#pragma once

#include <ucg/api/ucg.h>

#include <string>

namespace group_sim {

// Callback and timeout of a request.
struct completion_args {
    double timeout = 0;
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg) = nullptr;
    void* arg = nullptr;
};

// One rank's part in one operation: makes the request and holds its memory. The caller owns the
// request, and destroys it first.
class part {
public:
    part() = default;
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    virtual ~part() = default;

    // Makes the request, which may be started several times.
    virtual ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) = 0;
    // True if this rank cannot take part. Its request fails, and tells the other ranks not to wait.
    [[nodiscard]] virtual bool refuses() const { return false; }
    // Fills the inputs for the start with this number, and overwrites the outputs of the previous
    // one. The caller must call init() first.
    virtual void prepare(unsigned start, ucg_request_h request) = 0;
    // Checks the result of a successful start. Describes the first error; returns an empty string
    // if the result is correct.
    [[nodiscard]] virtual std::string check_result(ucg_request_h request) = 0;
};

}  // namespace group_sim
