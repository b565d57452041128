#include "tools/common/failure.hpp"
#include "tools/perf/core/test_options.hpp"
#include "tools/perf/ucp/remote_window.hpp"

namespace tools::perf {
namespace {

constexpr unsigned put_window = 32;

std::size_t length_of(const connection& conn) {
    return std::max<std::size_t>(conn.params.message_size(), 8);
}

// In each round, each side puts a message whose last byte is the number of the round, and waits
// until the message of the peer has arrived in its memory. An iteration is a round trip.
class put_latency final : public workload {
public:
    explicit put_latency(const connection& conn)
        : part_(conn.part), size_(conn.params.message_size()), window_(conn, length_of(conn)) {}

    void run(std::uint64_t iterations, meter* times) override {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            round_ = static_cast<std::uint8_t>(round_ + 1);
            if (part_ == side::responder) wait();
            put();
            if (part_ != side::responder) wait();
            if (times != nullptr) times->step();
        }
        window_.flush();
    }

    std::string describe_operation() override {
        run(1, nullptr);
        return "put";
    }

private:
    void put() {
        window_.local()[size_ - 1] = std::byte{round_};
        window_.finish("ucp_put_nbx",
                       ucp_put_nbx(window_.ep(), window_.local(), size_, window_.remote(),
                                   window_.key(), &window_.local_param()));
    }
    void wait() {
        const volatile std::byte* last = window_.incoming() + size_ - 1;
        while (true) {
            // Polling memory costs less than progress. Progress is needed because a transport
            // without remote writes carries puts as messages.
            for (unsigned looks = 0; looks < 16; ++looks) {
                if (*last == std::byte{round_}) return;
            }
            window_.loop().once();
        }
    }

    const side part_;
    const std::size_t size_;
    remote_window window_;
    std::uint8_t round_ = 0;
};

// The initiator runs the operations. The responder only progresses until it receives the message
// that the operations are done.
class one_sided : public workload {
public:
    one_sided(const connection& conn, unsigned window)
        : part_(conn.part),
          window_(conn, length_of(conn)),
          running_(conn.params.outstanding == 0 ? window : conn.params.outstanding, nullptr) {}

    void run(std::uint64_t iterations, meter* times) final {
        if (part_ == side::responder) {
            window_.wait_done();
            return window_.send_done();
        }
        for (std::uint64_t done = 0; done < iterations; ++done) {
            ucs_status_ptr_t& slot = running_[done % running_.size()];
            if (slot != nullptr) window_.finish("the operation", slot);
            slot = start();
            if (!UCS_PTR_IS_PTR(slot))
                window_.finish("the operation", std::exchange(slot, nullptr));
            if (times != nullptr) times->step();
        }
        for (ucs_status_ptr_t& slot : running_)
            window_.finish("the operation", std::exchange(slot, nullptr));
        window_.flush();
        if (part_ == side::both) return;
        window_.send_done();
        window_.wait_done();
    }

    std::string describe_operation() final {
        run(1, nullptr);
        return "one operation";
    }

protected:
    virtual ucs_status_ptr_t start() = 0;
    remote_window& window() noexcept { return window_; }

private:
    const side part_;
    remote_window window_;
    std::vector<ucs_status_ptr_t> running_;
};

template<auto call, unsigned in_flight>
class transfer final : public one_sided {
public:
    explicit transfer(const connection& conn)
        : one_sided(conn, in_flight), size_(conn.params.message_size()) {}

private:
    ucs_status_ptr_t start() override {
        return call(window().ep(), window().local(), size_, window().remote(), window().key(),
                    &window().local_param());
    }
    const std::size_t size_;
};
using put_bandwidth = transfer<&ucp_put_nbx, put_window>;
using get = transfer<&ucp_get_nbx, 1>;

class atomic final : public one_sided {
public:
    atomic(const connection& conn, ucp_atomic_op_t operation, bool fetch)
        : one_sided(conn, 1), operation_(operation) {
        param_.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
        param_.datatype = ucp_dt_make_contig(conn.params.message_size());
        if (!fetch) return;
        param_.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param_.reply_buffer = &reply_;
    }

private:
    ucs_status_ptr_t start() override {
        return ucp_atomic_op_nbx(window().ep(), operation_, &operand_, 1, window().remote(),
                                 window().key(), &param_);
    }
    const ucp_atomic_op_t operation_;
    const std::uint64_t operand_ = 1;
    std::uint64_t reply_ = 0;
    ucp_request_param_t param_{};
};

void check_one_sided(const test_params& params, const accepted_options& takes) {
    refuse_unsupported(params, takes);
    if (params.send_layout != layout::contig || params.recv_layout != layout::contig ||
        params.pieces.size() != 1) {
        throw usage_error("-D iov and several sizes are not for tests of remote memory");
    }
    if (params.validate) throw usage_error("-V is not for tests of remote memory");
    if (params.message_size() == 0) throw usage_error("-s: remote memory of no size");
}

void check_rma(const test_params& params) {
    check_one_sided(params, {});
}

void check_atomic(const test_params& params) {
    check_one_sided(params, {.handles = false});
    const std::size_t size = params.message_size();
    if (size != 4 && size != 8) throw usage_error("-s: atomic operations have 4 or 8 bytes");
}

template<class Test, auto... more>
std::unique_ptr<workload> make(const connection& conn) {
    return std::make_unique<Test>(conn, more...);
}

}  // namespace

std::span<const test_row> remote_memory_tests() noexcept {
    // These tests also need tagged messages, which carry the keys.
    constexpr std::uint64_t rma = UCP_FEATURE_RMA | UCP_FEATURE_TAG;
    constexpr std::uint64_t amo = UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_TAG;
    static constexpr std::array<test_row, 7> rows{{
        {"ucp_put_lat", "put latency", quantity::latency, rma, &make<put_latency>, &check_rma},
        {"ucp_put_bw", "put bandwidth", quantity::bandwidth, rma, &make<put_bandwidth>, &check_rma},
        {"ucp_get", "get latency / bandwidth / message rate", quantity::operation, rma, &make<get>,
         &check_rma},
        {"ucp_add", "atomic add bandwidth / message rate", quantity::bandwidth, amo,
         &make<atomic, UCP_ATOMIC_OP_ADD, false>, &check_atomic},
        {"ucp_fadd", "atomic fetch-and-add latency / rate", quantity::operation, amo,
         &make<atomic, UCP_ATOMIC_OP_ADD, true>, &check_atomic},
        {"ucp_swap", "atomic swap latency / rate", quantity::operation, amo,
         &make<atomic, UCP_ATOMIC_OP_SWAP, true>, &check_atomic},
        {"ucp_cswap", "atomic compare-and-swap latency / rate", quantity::operation, amo,
         &make<atomic, UCP_ATOMIC_OP_CSWAP, true>, &check_atomic},
    }};
    return rows;
}

}  // namespace tools::perf
