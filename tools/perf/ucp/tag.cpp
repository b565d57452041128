#include "tools/perf/ucp/tag.hpp"

#include "tools/common/failure.hpp"
#include "tools/perf/ucp/tag_channel.hpp"

namespace tools::perf {
namespace {

constexpr unsigned latency_window = 1;
constexpr unsigned bandwidth_window = 32;

unsigned window_of(const connection& on, unsigned usual) {
    return on.params.outstanding == 0 ? usual : on.params.outstanding;
}

// Ping-pong. An iteration is a round trip.
class tag_latency final : public workload {
public:
    tag_latency(const connection& on, bool sync)
        : part_(on.part),
          window_(window_of(on, latency_window)),
          channel_(on, {.sync = sync, .window = window_}) {}

    void run(std::uint64_t iterations, meter* times) override {
        if (part_ == side::responder) {
            respond(iterations);
        } else {
            initiate(iterations, times);
        }
        channel_.wait_sends(0);
    }

    std::string describe_operation() override { return channel_.describe_send(); }

private:
    void initiate(std::uint64_t iterations, meter* times) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_sends(window_ - 1);
            channel_.send();
            channel_.receive();
            channel_.wait_receives(0);
            if (times != nullptr) times->step();
        }
    }

    void respond(std::uint64_t iterations) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.receive();
            channel_.wait_receives(0);
            channel_.wait_sends(window_ - 1);
            channel_.send();
        }
    }

    const side part_;
    const unsigned window_;
    tag_channel channel_;
};

// One direction, several messages in flight. The run ends when the receiver has everything.
class tag_bandwidth final : public workload {
public:
    tag_bandwidth(const connection& on, bool sync)
        : part_(on.part),
          window_(window_of(on, bandwidth_window)),
          channel_(on, {.sync = sync, .window = window_}) {}

    void run(std::uint64_t iterations, meter* times) override {
        switch (part_) {
            case side::initiator:
                send_all(iterations, times);
                return channel_.wait_acknowledgement();
            case side::responder:
                receive_all(iterations);
                return channel_.acknowledge();
            case side::both:
                return exchange(iterations, times);
        }
    }

    std::string describe_operation() override { return channel_.describe_send(); }

private:
    void send_all(std::uint64_t iterations, meter* times) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_sends(window_ - 1);
            channel_.send();
            if (times != nullptr) times->step();
        }
        channel_.wait_sends(0);
    }

    void receive_all(std::uint64_t iterations) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_receives(window_ - 1);
            channel_.receive();
        }
        channel_.wait_receives(0);
    }

    void exchange(std::uint64_t iterations, meter* times) {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            channel_.wait_sends(window_ - 1);
            channel_.send();
            channel_.wait_receives(window_ - 1);
            channel_.receive();
            if (times != nullptr) times->step();
        }
        channel_.wait_sends(0);
        channel_.wait_receives(0);
    }

    const side part_;
    const unsigned window_;
    tag_channel channel_;
};

}  // namespace

void check_tag_options(const test_params& params) {
    if (params.receive == receive_mode::recv_data) {
        throw usage_error("-r recv_data is for stream tests, not for tag tests");
    }
}

std::unique_ptr<workload> make_tag_latency(const connection& on) {
    return std::make_unique<tag_latency>(on, false);
}

std::unique_ptr<workload> make_tag_bandwidth(const connection& on) {
    return std::make_unique<tag_bandwidth>(on, false);
}

std::unique_ptr<workload> make_tag_sync_latency(const connection& on) {
    return std::make_unique<tag_latency>(on, true);
}

std::unique_ptr<workload> make_tag_sync_bandwidth(const connection& on) {
    return std::make_unique<tag_bandwidth>(on, true);
}

}  // namespace tools::perf
