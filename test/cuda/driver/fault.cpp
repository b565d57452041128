#include "test/cuda/driver/fault.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "test/cuda/driver/call.hpp"
#include "test/cuda/driver/settings.hpp"
#include "test/cuda/driver/standin.h"

namespace standin {
namespace {

struct fault {
    std::string name;
    unsigned long long calls_left;  // the call that brings this to 0 fails; 0: every call does
    bool is_every;
    CUresult error;
};

fault make_fault(const char* name, unsigned long long nth, int result) {
    return {name, nth, nth == 0, static_cast<CUresult>(result)};
}

std::vector<fault> of_environment() {
    std::vector<fault> read;
    constexpr const char* variable = "STANDIN_FAIL";
    for (const std::string& each : split(options().faults, ',')) {
        std::vector<std::string> parts = split(each, ':');
        parts.resize(3);
        read.push_back(make_fault(parts[0].c_str(), read_number(variable, parts[1]),
                                  static_cast<int>(read_number(variable, parts[2]))));
    }
    return read;
}

std::vector<fault>& faults() {
    static std::vector<fault>& only = *new std::vector<fault>(of_environment());
    return only;
}

}  // namespace

CUresult take_fault(const char* name) {
    CUresult taken = CUDA_SUCCESS;
    for (fault& each : faults()) {
        if (each.name != name) continue;
        const bool is_due = each.is_every || (each.calls_left > 0 && --each.calls_left == 0);
        if (is_due && taken == CUDA_SUCCESS) taken = each.error;
    }
    return taken;
}

}  // namespace standin

void standin_fail(const char* name, unsigned nth, int result) {
    const standin::held_lock lock(standin::state_lock());
    standin::faults().push_back(standin::make_fault(name, nth, result));
}

void standin_clear_faults() {
    const standin::held_lock lock(standin::state_lock());
    standin::faults().clear();
}
