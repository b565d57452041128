#include "tools/perf/test_run.hpp"

#include <fmt/format.h>

#include "tools/common/affinity.hpp"
#include "tools/common/failure.hpp"
#include "tools/perf/ucp/progress_loop.hpp"

namespace tools::perf {
namespace {

// Progress of a worker, for the control connection.
class worker_progress final : public idle_work {
public:
    worker_progress(ucp_worker_h worker, stop_flag& stop) : loop_(worker, stop) {}
    void operator()() override { loop_.once(); }

private:
    progress_loop loop_;
};

std::uint64_t features_of(const test_row& row, const test_params& params) {
    std::uint64_t features = row.features;
    if (params.sleeps()) features |= UCP_FEATURE_WAKEUP;
    return features;
}

}  // namespace

test_run::test_run(const test_params& params, const run_environment& environment)
    : params_(params),
      row_(find_test(params.test)),
      with_(environment),
      context_(features_of(row_, params), params),
      meeting_(params.threads),
      members_(params.threads),
      local_addresses_(params.threads) {}

outcome test_run::run() {
    run_team(params_.threads, with_.stop, [this](unsigned index) { run_thread(index); });
    // Only now has every thread left the worker that they may share.
    for (member& each : members_) {
        if (each.own_worker) each.own_worker->close();
    }
    context_.close();
    if (with_.rows == nullptr) return {};
    return {params_.threads == 1 ? members_.front().times->result() : joint_result(), extra_info_};
}

void test_run::run_thread(unsigned index) {
    pin_thread(with_.cpus, index, params_.threads);
    make_worker(index);
    meet(index, false);
    share_worker(index);
    if (index == 0) exchange_addresses();
    meet(index, false);
    connect(index);
    meet(index, true);
    measure_thread(index);
    disconnect(index);
}

void test_run::make_worker(unsigned index) {
    member& self = members_[index];
    if (index != 0 && params_.shared_worker) return;
    self.own_worker = std::make_unique<worker>(context_, params_);
    self.works_on = self.own_worker.get();
    local_addresses_[index] = self.own_worker->address();
}

// Each thread for itself: who waits for the others looks at its own.
void test_run::share_worker(unsigned index) {
    if (params_.shared_worker) members_[index].works_on = members_.front().own_worker.get();
}

void test_run::exchange_addresses() {
    if (params_.shared_worker) local_addresses_.assign(members_.size(), local_addresses_.front());
    if (with_.peer == nullptr) {
        peer_addresses_ = local_addresses_;
        return;
    }
    worker_progress idle(members_.front().works_on->get(), with_.stop);
    with_.peer->send(frame_type::addresses, pack_blobs(local_addresses_));
    const frame received = with_.peer->receive(frame_type::addresses, &idle);
    auto addresses = parse_blobs(received.content);
    if (!addresses || addresses->size() != params_.threads) {
        throw failure("the peer sent malformed worker addresses");
    }
    peer_addresses_ = std::move(*addresses);
}

void test_run::connect(unsigned index) {
    member& self = members_[index];
    self.ep =
        std::make_unique<endpoint>(*self.works_on, peer_addresses_[index], params_, with_.stop);
    self.load = row_.make({context_.get(), self.works_on->get(), self.ep->get(), params_, index,
                           with_.part, with_.stop});
    if (with_.rows == nullptr) return;
    const meter_setup setup{row_.what, params_.message_size(), params_.rank, index,
                            with_.progress_rows};
    self.times = std::make_unique<meter>(setup, *with_.rows);
}

void test_run::measure_thread(unsigned index) {
    member& self = members_[index];
    self.load->run(params_.warmup_iterations(), nullptr);
    meet(index, true);
    if (self.times) self.times->start();
    self.load->run(params_.iterations, self.times.get());
    if (self.times) self.times->finish();
    meet(index, true);
    if (index == 0 && params_.extra_info) extra_info_ = self.load->describe_operation();
    self.ep->expect_end();
    meet(index, true);
}

void test_run::disconnect(unsigned index) {
    member& self = members_[index];
    self.load.reset();
    self.ep->close(*self.works_on, with_.stop);
    meet(index, true);
}

void test_run::meet(unsigned index, bool with_peer) {
    const member& self = members_[index];
    auto progress = [&, loop = std::optional<progress_loop>()]() mutable {
        if (self.works_on == nullptr) return;
        if (!loop) loop.emplace(self.works_on->get(), with_.stop);
        loop->once();
    };
    meeting_.wait(with_.stop, progress);
    if (!with_peer) return;
    if (index == 0 && with_.peer != nullptr) {
        worker_progress idle(self.works_on->get(), with_.stop);
        with_.peer->barrier(idle);
    }
    meeting_.wait(with_.stop, progress);
}

measurement test_run::joint_result() const {
    std::uint64_t start = ~std::uint64_t{0};
    std::uint64_t end = 0;
    for (const member& one : members_) {
        start = std::min(start, one.times->start_ns());
        end = std::max(end, one.times->end_ns());
    }
    const span_of_work all{params_.iterations, static_cast<double>(end - start) * 1e-9};
    return measure(row_.what, params_.message_size(), params_.threads, all, all, 0);
}

}  // namespace tools::perf
