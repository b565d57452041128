#include "tools/perf/uct/memory_access.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "tools/perf/core/in_flight.hpp"
#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/uct/operations.hpp"

namespace tools::perf {
namespace {

void require_content(std::span<const std::byte> memory, const pattern& content) {
    const auto wrong = content.find_difference(memory, 0);
    if (!wrong) return;
    throw failure(
        fmt::format("validation: memory is wrong at offset {} of {}", *wrong, memory.size()));
}

// Reads or writes the peer's memory, at most `window` times at once.
class accessor {
public:
    accessor(const transport_connection& on, remote_access how, unsigned window)
        : over_(on.over),
          operation_(*operation_of(on.params, how)),
          window_(window),
          memory_(on.params.message_size()) {
        done_.done = [](uct::completion&) {};
        done_.count = 0;
        if (how == remote_access::put) memory_content(on.part).fill(memory_, 0);
    }

    [[nodiscard]] std::span<std::byte> memory() noexcept { return memory_; }

    void start() {
        wait(window_ - 1);
        ++done_.count;
        const ucs_status_t status = over_.once_there_is_room([&] { return post(); });
        if (status == UCS_INPROGRESS) return;
        --done_.count;
        require(status);
    }

    // Until at most so many are not done.
    void wait(unsigned left) {
        if (done_.count > left) {
            over_.until([&] { return done_.count <= left; });
        }
        require(done_.status);
    }

    // Until all are done at the peer, too: what is copied on its way out is told by a flush only.
    void finish() {
        wait(0);
        ++done_.count;
        const ucs_status_t status =
            over_.once_there_is_room([&] { return over_.ep().flush(&done_); });
        if (status != UCS_INPROGRESS) {
            --done_.count;
            over_.require("flush", status);
        }
        wait(0);
    }

    [[nodiscard]] const char* name() const noexcept { return name_of(operation_); }

private:
    ucs_status_t post() {
        uct::ep& ep = over_.ep();
        const uct::remote_place there = over_.remote();
        const uct::iov piece{memory_.data(), memory_.size()};
        switch (operation_) {
            case uct::op::put_short:
                return ep.put_short(memory_.data(), memory_.size(), there);
            case uct::op::put_bcopy: {
                const ssize_t put = ep.put_bcopy(&pack, &memory_, there);
                return put < 0 ? static_cast<ucs_status_t>(put) : UCS_OK;
            }
            case uct::op::put_zcopy:
                return ep.put_zcopy({&piece, 1}, there, &done_);
            case uct::op::get_bcopy:
                return ep.get_bcopy(memory_.data(), memory_.size(), there, &done_);
            default:
                return ep.get_zcopy({&piece, 1}, there, &done_);
        }
    }
    static std::size_t pack(void* arg, void* into, std::size_t) {
        const auto& from = *static_cast<const std::vector<std::byte>*>(arg);
        std::memcpy(into, from.data(), from.size());
        return from.size();
    }
    void require(ucs_status_t status) const { over_.require(name(), status); }

    transport_link& over_;
    const uct::op operation_;
    const unsigned window_;
    std::vector<std::byte> memory_;
    uct::completion done_{};  // counts those that run
};

std::string description(const transport_connection& on, const char* operation) {
    return fmt::format("{} of {} bytes on {}", operation, on.params.message_size(), on.over.name());
}

// One side writes or reads, the other only progresses, outside of this.
class memory_bandwidth final : public workload {
public:
    memory_bandwidth(const transport_connection& on, remote_access how, unsigned window)
        : on_(on), how_(how), work_(on, how, window) {
        if (how == remote_access::get) memory_content(on.part).fill(on.landing, 0);
    }

    void run(std::uint64_t iterations, meter* times) override {
        if (on_.part == side::responder) return;
        for (std::uint64_t done = 0; done < iterations; ++done) {
            work_.start();
            if (times != nullptr) times->step();
        }
        work_.finish();
    }

    std::string describe_operation() override { return description(on_, work_.name()); }

    void check_memory() override {
        if (how_ == remote_access::put && on_.part != side::initiator) {
            require_content(on_.landing, memory_content(side::initiator));
        }
        if (how_ == remote_access::get && on_.part != side::responder) {
            require_content(work_.memory(),
                            memory_content(on_.part == side::both ? side::both : side::responder));
        }
    }

private:
    const transport_connection on_;
    const remote_access how_;
    accessor work_;
};

// Ping-pong by writing; a number in the last byte says that the peer has written.
class put_latency final : public workload {
public:
    put_latency(const transport_connection& on, unsigned window)
        : on_(on), work_(on, remote_access::put, window) {}

    void run(std::uint64_t iterations, meter* times) override {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            ++number_;
            if (on_.part == side::responder) await();
            work_.wait(0);  // its memory is about to change
            work_.memory().back() = static_cast<std::byte>(number_);
            work_.start();
            if (on_.part != side::responder) await();
            if (times != nullptr) times->step();
        }
        work_.finish();
    }

    std::string describe_operation() override { return description(on_, work_.name()); }

    void check_memory() override {
        const side writer = on_.part == side::initiator ? side::responder : side::initiator;
        require_content(on_.landing.first(on_.landing.size() - 1), memory_content(writer));
    }

private:
    void await() {
        const std::atomic_ref<std::byte> last(on_.landing.back());
        const auto expected = static_cast<std::byte>(number_);
        on_.over.until([&] { return last.load(std::memory_order_acquire) == expected; });
    }

    const transport_connection on_;
    accessor work_;
    std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<workload> make_put_latency(const transport_connection& on) {
    return std::make_unique<put_latency>(on, window_of(on.params, latency_window));
}

std::unique_ptr<workload> make_put_bandwidth(const transport_connection& on) {
    return std::make_unique<memory_bandwidth>(on, remote_access::put,
                                              window_of(on.params, bandwidth_window));
}

std::unique_ptr<workload> make_get(const transport_connection& on) {
    return std::make_unique<memory_bandwidth>(on, remote_access::get,
                                              window_of(on.params, latency_window));
}

std::unique_ptr<workload> make_get_bandwidth(const transport_connection& on) {
    return std::make_unique<memory_bandwidth>(on, remote_access::get,
                                              window_of(on.params, bandwidth_window));
}

}  // namespace tools::perf
