// Runs one side of a test of a transport, from opening the interface to closing it.
#pragma once

#include "tools/perf/net/runnable.hpp"
#include "tools/perf/uct/am_channel.hpp"

namespace tools::perf {

// The main thread creates it and runs it once, without other threads. Interfaces exchange addresses
// through the control connection. Throws failure, or stopped if the peer has disappeared.
class transport_run final : public runnable {
public:
    transport_run(const test_params& params, const run_environment& environment);

    outcome run() override;

private:
    void exchange_addresses();
    // Sends blobs to the peer and returns those of the peer.
    [[nodiscard]] std::vector<blob> exchange(const std::vector<blob>& own);
    // Connects by an address and a memory key, which is empty if the address suffices.
    void connect(const std::vector<blob>& peer);
    // Waits for the peer while the interface progresses.
    void synchronise();

    const test_params& params_;
    const test_row& row_;
    const run_environment& environment_;
    transport_link link_;
    std::vector<std::byte> own_;
    uct::shared_memory shared_;     // declared after own_, which it may refer to
    std::span<std::byte> exposed_;  // memory that the peer may access: own_ or shared_
};

}  // namespace tools::perf
