// Runs one side of one test, from the creation of the library's objects to their destruction.
#pragma once

#include <deque>

#include "tools/common/affinity.hpp"
#include "tools/perf/net/runnable.hpp"
#include "tools/perf/ucp/objects.hpp"

namespace tools::perf {

inline std::uint64_t features_of(const test_row& row, const test_params& params) {
    std::uint64_t features = row.features;
    if (params.sleeps()) features |= UCP_FEATURE_WAKEUP;
    return features;
}

// A test of the protocol layer. The main thread creates it and runs it once; run() creates the
// other threads. Throws failure, or stopped if the peer has disappeared.
class test_run final : public runnable {
public:
    test_run(const test_params& params, const run_environment& environment)
        : params_(params),
          row_(find_test(params.test)),
          environment_(environment),
          context_(features_of(row_, params), params),
          barrier_(params.threads),
          members_(params.threads),
          local_addresses_(params.threads) {}

    outcome run() override {
        run_team(params_.threads, environment_.stop, [this](unsigned index) { run_thread(index); });
        // Close the workers only now, because threads may share one until they all end.
        for (member& each : members_) {
            if (each.own_worker) each.own_worker->close();
        }
        context_.close();
        if (environment_.rows == nullptr) return {};
        return {params_.threads == 1 ? members_.front().times->result() : joint_result(),
                extra_info_};
    }

private:
    // The objects of one thread.
    struct member {
        std::unique_ptr<worker> own_worker;  // null if the thread uses a shared worker
        worker* works_on = nullptr;
        std::unique_ptr<endpoint> ep;
        std::unique_ptr<workload> load;
        std::unique_ptr<meter> times;
    };

    void run_thread(unsigned index) {
        pin_thread(environment_.cpus, index, params_.threads);
        make_worker(index);
        synchronise(index, false);
        share_worker(index);
        if (index == 0) exchange_addresses();
        synchronise(index, false);
        connect(index);
        synchronise(index, true);
        measure_thread(index);
        disconnect(index);
    }
    void make_worker(unsigned index) {
        member& self = members_[index];
        if (index != 0 && params_.shared_worker) return;
        self.own_worker = std::make_unique<worker>(context_, params_);
        self.works_on = self.own_worker.get();
        local_addresses_[index] = self.own_worker->address();
    }
    void share_worker(unsigned index) {
        if (params_.shared_worker) members_[index].works_on = members_.front().own_worker.get();
    }
    void exchange_addresses() {
        if (params_.shared_worker)
            local_addresses_.assign(members_.size(), local_addresses_.front());
        if (environment_.peer == nullptr) {
            peer_addresses_ = local_addresses_;
            return;
        }
        progress_loop idle(members_.front().works_on->get(), environment_.stop);
        environment_.peer->send(frame_type::addresses, pack_blobs(local_addresses_));
        const frame received = environment_.peer->receive(frame_type::addresses, &idle);
        auto addresses = parse_blobs(received.content);
        if (!addresses || addresses->size() != params_.threads) {
            throw failure("the peer sent malformed worker addresses");
        }
        peer_addresses_ = std::move(*addresses);
    }
    void connect(unsigned index) {
        member& self = members_[index];
        self.ep = std::make_unique<endpoint>(*self.works_on, peer_addresses_[index], params_,
                                             environment_.stop);
        self.load = row_.make({context_.get(), self.works_on->get(), self.ep->get(), params_, index,
                               environment_.part, environment_.stop});
        if (environment_.rows == nullptr) return;
        const meter_setup setup{row_.measured, params_.message_size(), params_.rank, index,
                                environment_.progress_rows};
        self.times = std::make_unique<meter>(setup, *environment_.rows);
    }
    void measure_thread(unsigned index) {
        member& self = members_[index];
        self.load->run(params_.warmup_iterations(), nullptr);
        synchronise(index, true);
        if (self.times) self.times->start();
        self.load->run(params_.iterations, self.times.get());
        if (self.times) self.times->finish();
        synchronise(index, true);
        if (index == 0 && params_.extra_info) extra_info_ = self.load->describe_operation();
        self.ep->expect_end();
        synchronise(index, true);
    }
    void disconnect(unsigned index) {
        member& self = members_[index];
        self.load.reset();
        self.ep->close(*self.works_on, environment_.stop);
        synchronise(index, true);
    }

    // Waits for all threads of this side (if `with_peer`, of both sides) while the thread's worker
    // progresses.
    void synchronise(unsigned index, bool with_peer) {
        const member& self = members_[index];
        auto progress = [&, loop = std::optional<progress_loop>()]() mutable {
            if (self.works_on == nullptr) return;
            if (!loop) loop.emplace(self.works_on->get(), environment_.stop);
            loop->once();
        };
        barrier_.wait(environment_.stop, progress);
        if (!with_peer) return;
        if (index == 0 && environment_.peer != nullptr) {
            progress_loop idle(self.works_on->get(), environment_.stop);
            environment_.peer->barrier(idle);
        }
        barrier_.wait(environment_.stop, progress);
    }
    [[nodiscard]] measurement joint_result() const {
        std::uint64_t start = ~std::uint64_t{0};
        std::uint64_t end = 0;
        for (const member& one : members_) {
            start = std::min(start, one.times->start_ns());
            end = std::max(end, one.times->end_ns());
        }
        const span_of_work all{params_.iterations, static_cast<double>(end - start) * 1e-9};
        return measure(row_.measured, params_.message_size(), params_.threads, all, all, 0);
    }

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
