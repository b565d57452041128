
#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/uct/operations.hpp"
#include "tools/perf/uct/posted_operations.hpp"
#include "tools/perf/uct/tests.hpp"

namespace tools::perf {
namespace {

// Loads the word of this side's memory on which the peer operates.
std::uint64_t load(std::span<const std::byte> exposed) {
    if (exposed.size() == sizeof(std::uint64_t)) {
        return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(exposed.data()),
                               __ATOMIC_ACQUIRE);
    }
    return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(exposed.data()),
                           __ATOMIC_ACQUIRE);
}

// Numbers the operations: each finds its number in the peer's word and stores the next one.
class operator_on_memory {
public:
    operator_on_memory(const transport_connection& conn, uct::atomic_kind kind, bool fetches,
                       unsigned window)
        : conn_(conn), fetches_(fetches), posted_(conn, window) {
        op_.kind = kind;
        op_.size = conn.params.message_size();
        op_.operand = 1;
    }

    void start() {
        if (op_.kind != uct::atomic_kind::add) {
            op_.operand = op_.kind == uct::atomic_kind::cswap ? number_ : number_ + 1;
            op_.swap = number_ + 1;
        }
        posted_.start("atomic", [this](uct::completion* done) {
            return conn_.link.ep().atomic(op_, conn_.link.remote(), fetches_ ? &before_ : nullptr,
                                          done);
        });
        if (conn_.params.validate && fetches_) check_fetched();
        ++number_;
    }

    void wait_for_all() { posted_.wait("atomic", 0); }

    [[nodiscard]] std::string description() const {
        return posted_.description(fmt::format("atomic {}{}", fetches_ ? "fetching " : "",
                                               uct::atomic_names[static_cast<unsigned>(op_.kind)]));
    }

    // Returns the value of the peer's word after `count` operations.
    [[nodiscard]] std::uint64_t after(std::uint64_t count) const noexcept {
        return op_.size == sizeof count ? count : static_cast<std::uint32_t>(count);
    }

private:
    void check_fetched() {
        wait_for_all();
        if (before_ == after(number_)) return;
        throw failure(fmt::format("validation: operation {} found {}", number_, before_));
    }

    const transport_connection conn_;
    const bool fetches_;
    posted_operations posted_;
    uct::atomic_op op_;
    std::uint64_t number_ = 0;
    std::uint64_t before_ = 0;
};

void require_count(const transport_connection& conn, std::uint64_t expected) {
    const std::uint64_t found = load(conn.exposed);
    if (found == expected) return;
    throw failure(fmt::format("validation: the memory holds {} instead of {}", found, expected));
}

// One side operates; the other only progresses in its wait for the end of the test.
class atomic_rate final : public workload {
public:
    atomic_rate(const transport_connection& conn, uct::atomic_kind kind, bool fetches,
                unsigned window)
        : conn_(conn), work_(conn, kind, fetches, window) {}

    void run(std::uint64_t iterations, meter* times) override {
        total_ += iterations;
        if (conn_.part == side::responder) return;
        for (std::uint64_t done = 0; done < iterations; ++done) {
            work_.start();
            if (times != nullptr) times->step();
        }
        work_.wait_for_all();
    }

    std::string describe_operation() override { return work_.description(); }

    void check_memory() override {
        if (conn_.part != side::initiator) require_count(conn_, work_.after(total_));
    }

private:
    const transport_connection conn_;
    operator_on_memory work_;
    std::uint64_t total_ = 0;
};

// Ping-pong: each side increments a counter in the memory of its peer.
class add_latency final : public workload {
public:
    add_latency(const transport_connection& conn, unsigned window)
        : conn_(conn), work_(conn, uct::atomic_kind::add, false, window) {}

    void run(std::uint64_t iterations, meter* times) override {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            ++number_;
            if (conn_.part == side::responder) await();
            work_.start();
            if (conn_.part != side::responder) await();
            if (times != nullptr) times->step();
        }
        work_.wait_for_all();
    }

    std::string describe_operation() override { return work_.description(); }
    void check_memory() override { require_count(conn_, work_.after(number_)); }

private:
    void await() {
        const std::uint64_t expected = work_.after(number_);
        conn_.link.until([&] { return load(conn_.exposed) == expected; });
    }

    const transport_connection conn_;
    operator_on_memory work_;
    std::uint64_t number_ = 0;
};

template<uct::atomic_kind kind, bool fetches>
void check(const test_params& params) {
    check_transport_test(params, [&](const uct::iface_attr& attr) {
        return mistake_in_atomic(params, kind, fetches, attr);
    });
}

}  // namespace

std::span<const test_row> transport_atomic_tests() noexcept {
    using enum uct::atomic_kind;
    static constexpr std::array<test_row, 5> rows{{
        {"add_lat", "atomic add latency", quantity::latency, 0, nullptr, &check<add, false>,
         &make_windowed<add_latency, latency_window>, true},
        {"add_mr", "atomic add message rate", quantity::bandwidth, 0, nullptr, &check<add, false>,
         &make_windowed<atomic_rate, bandwidth_window, add, false>, true},
        {"fadd", "atomic fetch-and-add latency / rate", quantity::operation, 0, nullptr,
         &check<add, true>, &make_windowed<atomic_rate, latency_window, add, true>, true},
        {"swap", "atomic swap latency / rate", quantity::operation, 0, nullptr, &check<swap, true>,
         &make_windowed<atomic_rate, latency_window, swap, true>, true},
        {"cswap", "atomic compare-and-swap latency / rate", quantity::operation, 0, nullptr,
         &check<cswap, true>, &make_windowed<atomic_rate, latency_window, cswap, true>, true},
    }};
    return rows;
}

}  // namespace tools::perf
