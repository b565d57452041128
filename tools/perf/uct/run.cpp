#include "tools/perf/uct/run.hpp"

#include "tools/common/affinity.hpp"
#include "tools/common/failure.hpp"
#include "tools/perf/core/memory_limit.hpp"

namespace tools::perf {
namespace {

// Progress of an interface, for the control connection.
class link_progress final : public idle_work {
public:
    explicit link_progress(transport_link& link) noexcept : link_(link) {}
    void operator()() override { link_.once(); }

private:
    transport_link& link_;
};

}  // namespace

transport_run::transport_run(const test_params& params, const run_environment& environment)
    : params_(params),
      row_(find_test(params.test)),
      with_(environment),
      link_(params, environment.stop),
      own_(row_.on_shared_memory ? 0 : memory_of_buffers(1, params.message_size())),
      landing_(own_) {
    if (row_.on_shared_memory) {
        shared_ = link_.share(params.message_size());
        landing_ = shared_.bytes;
    } else if (link_.iface().attr().keyed) {
        shared_ = link_.share(landing_);
    }
}

outcome transport_run::run() {
    pin_thread(with_.cpus, 0, 1);
    exchange_addresses();
    std::unique_ptr<workload> load = row_.make_on_transport({link_, params_, with_.part, landing_});
    std::unique_ptr<meter> times;
    if (with_.rows != nullptr) {
        times = std::make_unique<meter>(
            meter_setup{row_.what, params_.message_size(), params_.rank, 0, with_.progress_rows},
            *with_.rows);
    }
    meet();
    load->run(params_.warmup_iterations(), nullptr);
    meet();
    if (times) times->start();
    load->run(params_.iterations, times.get());
    if (times) times->finish();
    meet();
    if (params_.validate) load->check_memory();
    outcome done;
    if (times) done.result = times->result();
    if (params_.extra_info) done.extra_info = load->describe_operation();
    meet();
    load.reset();
    link_.disconnect();
    return done;
}

void transport_run::exchange_addresses() {
    connect(swap({link_.address(landing_.data()), shared_.key}));
    if (link_.pairs()) link_.pair(swap({link_.connection()}).front());
}

std::vector<blob> transport_run::swap(const std::vector<blob>& own) {
    if (with_.peer == nullptr) return own;
    with_.peer->send(frame_type::addresses, pack_blobs(own));
    link_progress idle(link_);
    const frame received = with_.peer->receive(frame_type::addresses, &idle);
    auto theirs = parse_blobs(received.content);
    if (!theirs || theirs->size() != own.size()) {
        throw failure("the peer sent a malformed interface address");
    }
    return std::move(*theirs);
}

void transport_run::connect(const std::vector<blob>& peer) {
    link_.connect(peer.front());
    if (!shared_.key.empty()) link_.reach(peer.back());
}

void transport_run::meet() {
    if (with_.peer == nullptr) return;
    link_progress idle(link_);
    with_.peer->barrier(idle);
}

}  // namespace tools::perf
