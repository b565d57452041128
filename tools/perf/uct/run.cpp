#include "tools/perf/uct/run.hpp"

#include "tools/common/affinity.hpp"

namespace tools::perf {
namespace {

// Progresses an interface while the control connection waits.
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
      environment_(environment),
      link_(params, environment.stop),
      own_(row_.on_shared_memory ? 0 : memory_of_buffers(1, params.message_size())),
      exposed_(own_) {
    if (row_.on_shared_memory) {
        shared_ = link_.share(params.message_size());
        exposed_ = shared_.bytes;
    } else if (link_.iface().attr().keyed) {
        shared_ = link_.share(exposed_);
    }
}

outcome transport_run::run() {
    pin_thread(environment_.cpus, 0, 1);
    exchange_addresses();
    std::unique_ptr<workload> load =
        row_.make_on_transport({link_, params_, environment_.part, exposed_});
    std::unique_ptr<meter> times;
    if (environment_.rows != nullptr) {
        times = std::make_unique<meter>(meter_setup{row_.measured, params_.message_size(),
                                                    params_.rank, 0, environment_.progress_rows},
                                        *environment_.rows);
    }
    synchronise();
    load->run(params_.warmup_iterations(), nullptr);
    synchronise();
    if (times) times->start();
    load->run(params_.iterations, times.get());
    if (times) times->finish();
    synchronise();
    if (params_.validate) load->check_memory();
    outcome done;
    if (times) done.result = times->result();
    if (params_.extra_info) done.extra_info = load->describe_operation();
    synchronise();
    load.reset();
    link_.disconnect();
    return done;
}

void transport_run::exchange_addresses() {
    connect(exchange({link_.address(exposed_.data()), shared_.key}));
    if (link_.pairs()) link_.pair(exchange({link_.connection()}).front());
}

std::vector<blob> transport_run::exchange(const std::vector<blob>& own) {
    if (environment_.peer == nullptr) return own;
    environment_.peer->send(frame_type::addresses, pack_blobs(own));
    link_progress idle(link_);
    const frame received = environment_.peer->receive(frame_type::addresses, &idle);
    auto from_peer = parse_blobs(received.content);
    if (!from_peer || from_peer->size() != own.size()) {
        throw failure("the peer sent a malformed interface address");
    }
    return std::move(*from_peer);
}

void transport_run::connect(const std::vector<blob>& peer) {
    link_.connect(peer.front());
    if (!shared_.key.empty()) link_.reach(peer.back());
}

void transport_run::synchronise() {
    if (environment_.peer == nullptr) return;
    link_progress idle(link_);
    environment_.peer->barrier(idle);
}

}  // namespace tools::perf
