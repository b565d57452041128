// One side of a test of a transport, from opening the interface to closing it.
#pragma once

#include <memory>
#include <vector>

#include "tools/perf/test_run.hpp"
#include "tools/perf/uct/connection.hpp"

namespace tools::perf {

// Made and run once, by the main thread, which is its only one. Interfaces find each other through
// the control connection. Throws failure, or stopped when the peer disappeared.
class transport_run final : public runnable {
public:
    transport_run(const test_params& params, const run_environment& environment);

    outcome run() override;

private:
    void exchange_addresses();
    // Takes what the peer says to the same from us.
    [[nodiscard]] std::vector<blob> swap(const std::vector<blob>& own);
    // By an address and a key to memory, which is empty where the address is enough.
    void connect(const std::vector<blob>& peer);
    // Waits for the peer while the interface progresses.
    void meet();

    const test_params& params_;
    const test_row& row_;
    const run_environment& with_;
    transport_link link_;
    std::vector<std::byte> own_;
    uct::shared_memory shared_;     // after the memory that it may be of
    std::span<std::byte> landing_;  // memory that the peer may access: one of the two
};

}  // namespace tools::perf
