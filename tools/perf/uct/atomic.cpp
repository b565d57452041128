#include "tools/perf/uct/atomic.hpp"

#include <fmt/format.h>

#include "tools/perf/core/message_workloads.hpp"

namespace tools::perf {
namespace {

// The word of this side's memory that the peer works on.
std::uint64_t load(std::span<const std::byte> landing) {
    if (landing.size() == sizeof(std::uint64_t)) {
        return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(landing.data()),
                               __ATOMIC_ACQUIRE);
    }
    return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(landing.data()),
                           __ATOMIC_ACQUIRE);
}

// Numbers the operations: each finds its number in the peer's word and leaves the next one.
class operator_on_memory {
public:
    operator_on_memory(const transport_connection& on, uct::atomic_kind what, bool fetches,
                       unsigned window)
        : on_(on), fetches_(fetches), window_(window) {
        op_.what = what;
        op_.size = on.params.message_size();
        op_.operand = 1;
        done_.done = [](uct::completion&) {};
        done_.count = 0;
    }

    void start() {
        wait(window_ - 1);
        if (op_.what != uct::atomic_kind::add) {
            op_.operand = op_.what == uct::atomic_kind::cswap ? number_ : number_ + 1;
            op_.swap = number_ + 1;
        }
        ++done_.count;
        const ucs_status_t status = on_.over.once_there_is_room([&] {
            return on_.over.ep().atomic(op_, on_.over.remote(), fetches_ ? &before_ : nullptr,
                                        &done_);
        });
        if (status != UCS_INPROGRESS) {
            --done_.count;
            require(status);
        }
        if (on_.params.validate && fetches_) check_answer();
        ++number_;
    }

    // Until at most so many are not done.
    void wait(unsigned left) {
        if (done_.count > left) {
            on_.over.until([&] { return done_.count <= left; });
        }
        require(done_.status);
    }

    [[nodiscard]] std::string name() const {
        return fmt::format("atomic {}{}", fetches_ ? "fetching " : "",
                           uct::atomic_names[static_cast<unsigned>(op_.what)]);
    }

    // What the peer's word holds after `count` operations.
    [[nodiscard]] std::uint64_t after(std::uint64_t count) const noexcept {
        return op_.size == sizeof count ? count : static_cast<std::uint32_t>(count);
    }

private:
    void require(ucs_status_t status) const { on_.over.require("atomic", status); }

    void check_answer() {
        wait(0);
        if (before_ == after(number_)) return;
        throw failure(fmt::format("validation: operation {} found {}", number_, before_));
    }

    const transport_connection on_;
    const bool fetches_;
    const unsigned window_;
    uct::atomic_op op_;
    std::uint64_t number_ = 0;
    std::uint64_t before_ = 0;
    uct::completion done_{};  // counts those that run
};

std::string description(const transport_connection& on, const operator_on_memory& work) {
    return fmt::format("{} of {} bytes on {}", work.name(), on.params.message_size(),
                       on.over.name());
}

void require_count(const transport_connection& on, std::uint64_t expected) {
    const std::uint64_t found = load(on.landing);
    if (found == expected) return;
    throw failure(fmt::format("validation: the memory holds {} instead of {}", found, expected));
}

// One side operates, the other only progresses, outside of this.
class atomic_rate final : public workload {
public:
    atomic_rate(const transport_connection& on, uct::atomic_kind what, bool fetches,
                unsigned window)
        : on_(on), work_(on, what, fetches, window) {}

    void run(std::uint64_t iterations, meter* times) override {
        total_ += iterations;
        if (on_.part == side::responder) return;
        for (std::uint64_t done = 0; done < iterations; ++done) {
            work_.start();
            if (times != nullptr) times->step();
        }
        work_.wait(0);
    }

    std::string describe_operation() override { return description(on_, work_); }

    void check_memory() override {
        if (on_.part != side::initiator) require_count(on_, work_.after(total_));
    }

private:
    const transport_connection on_;
    operator_on_memory work_;
    std::uint64_t total_ = 0;
};

// Ping-pong: each side counts in the other's memory.
class add_latency final : public workload {
public:
    add_latency(const transport_connection& on, unsigned window)
        : on_(on), work_(on, uct::atomic_kind::add, false, window) {}

    void run(std::uint64_t iterations, meter* times) override {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            ++number_;
            if (on_.part == side::responder) await();
            work_.start();
            if (on_.part != side::responder) await();
            if (times != nullptr) times->step();
        }
        work_.wait(0);
    }

    std::string describe_operation() override { return description(on_, work_); }
    void check_memory() override { require_count(on_, work_.after(number_)); }

private:
    void await() {
        const std::uint64_t expected = work_.after(number_);
        on_.over.until([&] { return load(on_.landing) == expected; });
    }

    const transport_connection on_;
    operator_on_memory work_;
    std::uint64_t number_ = 0;
};

std::unique_ptr<workload> make_rate(const transport_connection& on, uct::atomic_kind what,
                                    bool fetches, unsigned window) {
    return std::make_unique<atomic_rate>(on, what, fetches, window_of(on.params, window));
}

}  // namespace

std::unique_ptr<workload> make_add_latency(const transport_connection& on) {
    return std::make_unique<add_latency>(on, window_of(on.params, latency_window));
}

std::unique_ptr<workload> make_add_rate(const transport_connection& on) {
    return make_rate(on, uct::atomic_kind::add, false, bandwidth_window);
}

std::unique_ptr<workload> make_fetch_add(const transport_connection& on) {
    return make_rate(on, uct::atomic_kind::add, true, latency_window);
}

std::unique_ptr<workload> make_swap(const transport_connection& on) {
    return make_rate(on, uct::atomic_kind::swap, true, latency_window);
}

std::unique_ptr<workload> make_compare_swap(const transport_connection& on) {
    return make_rate(on, uct::atomic_kind::cswap, true, latency_window);
}

}  // namespace tools::perf
