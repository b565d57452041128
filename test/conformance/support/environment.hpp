// Environment of a transport for the conformance suite.
#pragma once

#include <functional>

#include "uct/api/component.hpp"

namespace conformance {

// One configuration of the suite: a component, the resource to open and its options. Created anew
// for every test case, and outlives everything that the case opens.
class environment {
public:
    virtual ~environment() = default;

    [[nodiscard]] virtual const uct::component& transport() const = 0;
    [[nodiscard]] virtual uct::resource where() const = 0;
    [[nodiscard]] virtual ucs::config::source config() const {
        return ucs::config::source::empty();
    }

    // Workers reach only themselves, so sender and receiver are one interface.
    [[nodiscard]] virtual bool reaches_only_itself() const { return false; }
    // Message handlers take long messages in place (am_handler::locate).
    [[nodiscard]] virtual bool landing() const { return false; }

    // Kinds of the memory of cases that copy to and from remote memory: of the pieces, and of the
    // memory that the other side accesses.
    [[nodiscard]] virtual ucs_memory_type_t local_memory() const { return UCS_MEMORY_TYPE_HOST; }
    [[nodiscard]] virtual ucs_memory_type_t remote_memory() const { return UCS_MEMORY_TYPE_HOST; }

    // Called when no interface has work: lets virtual time pass. Returns false if time is real.
    virtual bool pass_time() { return false; }
    // The system reports access to unmapped remote memory as an error; the process does not crash.
    [[nodiscard]] virtual bool checks_remote_memory() const { return false; }
    // Whether get and put can be refused between the first and the second interface; and the
    // function that does so.
    [[nodiscard]] virtual bool can_refuse_rma() const { return false; }
    virtual void refuse_rma_of_first_pair() {}
    // Text that helps to understand a failed case (seed, last events).
    [[nodiscard]] virtual std::string report() const { return {}; }
};

// A row of the table of transports. If the transport cannot work here, `make` is empty and
// `reason` explains why.
struct transport_row {
    std::string name;
    std::function<std::unique_ptr<environment>()> make;
    std::string reason;
};

[[nodiscard]] std::vector<transport_row> transport_table();

}  // namespace conformance
