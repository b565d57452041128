// Runs one side of one test, from the creation of the library's objects to their destruction.
#pragma once

#include <deque>

#include "tools/perf/net/runnable.hpp"
#include "tools/perf/ucp/objects.hpp"

namespace tools::perf {

// A test of the protocol layer. The main thread creates it and runs it once; run() creates the
// other threads. Throws failure, or stopped if the peer has disappeared.
class test_run final : public runnable {
public:
    test_run(const test_params& params, const run_environment& environment);

    outcome run() override;

private:
    // The objects of one thread.
    struct member {
        std::unique_ptr<worker> own_worker;  // null if the thread uses a shared worker
        worker* works_on = nullptr;
        std::unique_ptr<endpoint> ep;
        std::unique_ptr<workload> load;
        std::unique_ptr<meter> times;
    };

    void run_thread(unsigned index);
    void make_worker(unsigned index);
    void share_worker(unsigned index);
    void exchange_addresses();
    void connect(unsigned index);
    void measure_thread(unsigned index);
    void disconnect(unsigned index);

    // Waits for all threads of this side (if `with_peer`, of both sides) while the thread's worker
    // progresses.
    void synchronise(unsigned index, bool with_peer);
    [[nodiscard]] measurement joint_result() const;

    const test_params& params_;
    const test_row& row_;
    const run_environment& environment_;
    context context_;
    thread_barrier barrier_;
    std::vector<member> members_;
    std::vector<blob> local_addresses_;
    std::vector<blob> peer_addresses_;
    std::string extra_info_;
};

}  // namespace tools::perf
