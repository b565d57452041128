// One rank's request and memory in an operation.
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

// One rank's memory in one operation. The caller owns the request, and the memory outlives it.
class part {
public:
    part() = default;
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    virtual ~part() = default;

    // Makes the request.
    virtual ucs_status_t init(const completion_args& completion, ucg_request_h* request_p) = 0;
    // True if the request only reports that this rank cannot take part.
    [[nodiscard]] virtual bool refuses() const { return false; }
    // Fills the inputs of a start, and overwrites its outputs. init() must be called before the
    // first.
    virtual void prepare(unsigned start, ucg_request_h request) = 0;
    // Checks the result of a successful start. Returns the first error; empty: all is correct.
    [[nodiscard]] virtual std::string check_result(ucg_request_h request) = 0;
};

}  // namespace group_sim
