// What a rank gives to an operation and gets from it.
#pragma once

#include <ucg/api/ucg.h>

#include <string>

namespace group_sim {

// How a request says that it has ended, and when it has to.
struct ending {
    double timeout = 0;
    void (*callback)(ucg_request_h request, ucs_status_t status, void* arg) = nullptr;
    void* arg = nullptr;
};

// One rank's memory in one operation; its request is the caller's. The memory stays as long as it.
class part {
public:
    part() = default;
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    virtual ~part() = default;

    // Makes the request.
    virtual ucs_status_t init(const ending& how, ucg_request_h* request_p) = 0;
    // Whether the request is one that only says that this rank cannot take part.
    [[nodiscard]] virtual bool refuses() const { return false; }
    // Fills what a start reads and spoils what it writes. Before the first one init() was called.
    virtual void prepare(unsigned start, ucg_request_h request) = 0;
    // The last start ended well. Empty: all is as it must be.
    [[nodiscard]] virtual std::string look_at_result(ucg_request_h request) = 0;
};

}  // namespace group_sim
