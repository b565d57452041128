// Runs one side of a test of a transport, from opening the interface to closing it.
#pragma once

#include "tools/common/affinity.hpp"
#include "tools/perf/net/runnable.hpp"
#include "tools/perf/uct/am_channel.hpp"

namespace tools::perf {

// The main thread creates it and runs it once, without other threads. Interfaces exchange addresses
// through the control connection. Throws failure, or stopped if the peer has disappeared.
class transport_run final : public runnable {
public:
    transport_run(const test_params& params, const run_environment& environment)
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

    outcome run() override {
        pin_thread(environment_.cpus, 0, 1);
        exchange_addresses();
        std::unique_ptr<workload> load =
            row_.make_on_transport({link_, params_, environment_.part, exposed_});
        std::unique_ptr<meter> times;
        if (environment_.rows != nullptr) {
            times =
                std::make_unique<meter>(meter_setup{row_.measured, params_.message_size(),
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

private:
    void exchange_addresses() {
        connect(exchange({link_.address(exposed_.data()), shared_.key}));
        if (link_.pairs()) link_.pair(exchange({link_.connection()}).front());
    }
    // Sends blobs to the peer and returns those of the peer.
    [[nodiscard]] std::vector<blob> exchange(const std::vector<blob>& own) {
        if (environment_.peer == nullptr) return own;
        environment_.peer->send(frame_type::addresses, pack_blobs(own));
        const frame received = environment_.peer->receive(frame_type::addresses, &link_);
        auto from_peer = parse_blobs(received.content);
        if (!from_peer || from_peer->size() != own.size()) {
            throw failure("the peer sent a malformed interface address");
        }
        return std::move(*from_peer);
    }
    // Connects by an address and a memory key, which is empty if the address suffices.
    void connect(const std::vector<blob>& peer) {
        link_.connect(peer.front());
        if (!shared_.key.empty()) link_.reach(peer.back());
    }
    // Waits for the peer while the interface progresses.
    void synchronise() {
        if (environment_.peer == nullptr) return;
        environment_.peer->barrier(link_);
    }

    const test_params& params_;
    const test_row& row_;
    const run_environment& environment_;
    transport_link link_;
    std::vector<std::byte> own_;
    uct::shared_memory shared_;     // declared after own_, which it may refer to
    std::span<std::byte> exposed_;  // memory that the peer may access: own_ or shared_
};

}  // namespace tools::perf
