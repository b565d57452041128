
#include "tools/perf/core/message_workloads.hpp"
#include "tools/perf/uct/operations.hpp"
#include "tools/perf/uct/posted_operations.hpp"
#include "tools/perf/uct/tests.hpp"

namespace tools::perf {
namespace {

void require_content(std::span<const std::byte> memory, const pattern& content) {
    const auto mismatch = content.find_difference(memory, 0);
    if (!mismatch) return;
    throw failure(
        fmt::format("validation: memory is wrong at offset {} of {}", *mismatch, memory.size()));
}

// Reads or writes the peer's memory, with at most `window` operations in flight.
class accessor {
public:
    accessor(const transport_connection& conn, remote_access access, unsigned window)
        : link_(conn.link),
          operation_(*operation_of(conn.params, access)),
          posted_(conn, window),
          memory_(conn.params.message_size()) {
        if (access == remote_access::put) memory_content(conn.part).fill(memory_, 0);
    }

    [[nodiscard]] std::span<std::byte> memory() noexcept { return memory_; }

    void start() {
        posted_.start(name(), [this](uct::completion* done) { return post(done); });
    }

    void wait_for_all() { posted_.wait(name(), 0); }

    // Waits until all operations are complete at the peer, too. For copied data only a flush
    // reports that.
    void finish() {
        wait_for_all();
        posted_.start("flush", [this](uct::completion* done) { return link_.ep().flush(done); });
        wait_for_all();
    }

    [[nodiscard]] std::string description() const { return posted_.description(name()); }

private:
    [[nodiscard]] const char* name() const noexcept { return name_of(operation_); }
    ucs_status_t post(uct::completion* done) {
        uct::ep& ep = link_.ep();
        const uct::remote_place remote = link_.remote();
        const uct::iov piece{memory_.data(), memory_.size()};
        switch (operation_) {
            case uct::op::put_short:
                return ep.put_short(memory_.data(), memory_.size(), remote);
            case uct::op::put_bcopy: {
                const ssize_t put = ep.put_bcopy(&pack, &memory_, remote);
                return put < 0 ? static_cast<ucs_status_t>(put) : UCS_OK;
            }
            case uct::op::put_zcopy:
                return ep.put_zcopy({&piece, 1}, remote, done);
            case uct::op::get_bcopy:
                return ep.get_bcopy(memory_.data(), memory_.size(), remote, done);
            default:
                return ep.get_zcopy({&piece, 1}, remote, done);
        }
    }
    static std::size_t pack(void* arg, void* into, std::size_t) {
        const auto& from = *static_cast<const std::vector<std::byte>*>(arg);
        std::memcpy(into, from.data(), from.size());
        return from.size();
    }

    transport_link& link_;
    const uct::op operation_;
    posted_operations posted_;
    std::vector<std::byte> memory_;
};

// One side writes or reads; the other only progresses in its wait for the end of the test.
class memory_bandwidth final : public workload {
public:
    memory_bandwidth(const transport_connection& conn, remote_access access, unsigned window)
        : conn_(conn), access_(access), work_(conn, access, window) {
        if (access == remote_access::get) memory_content(conn.part).fill(conn.exposed, 0);
    }

    void run(std::uint64_t iterations, meter* times) override {
        if (conn_.part == side::responder) return;
        for (std::uint64_t done = 0; done < iterations; ++done) {
            work_.start();
            if (times != nullptr) times->step();
        }
        work_.finish();
    }

    std::string describe_operation() override { return work_.description(); }

    void check_memory() override {
        if (access_ == remote_access::put && conn_.part != side::initiator) {
            require_content(conn_.exposed, memory_content(side::initiator));
        }
        if (access_ == remote_access::get && conn_.part != side::responder) {
            require_content(
                work_.memory(),
                memory_content(conn_.part == side::both ? side::both : side::responder));
        }
    }

private:
    const transport_connection conn_;
    const remote_access access_;
    accessor work_;
};

// Ping-pong by puts. The last byte is a number that shows that the peer's put has arrived.
class put_latency final : public workload {
public:
    put_latency(const transport_connection& conn, unsigned window)
        : conn_(conn), work_(conn, remote_access::put, window) {}

    void run(std::uint64_t iterations, meter* times) override {
        for (std::uint64_t done = 0; done < iterations; ++done) {
            ++number_;
            if (conn_.part == side::responder) await();
            work_.wait_for_all();  // because its memory is about to change
            work_.memory().back() = static_cast<std::byte>(number_);
            work_.start();
            if (conn_.part != side::responder) await();
            if (times != nullptr) times->step();
        }
        work_.finish();
    }

    std::string describe_operation() override { return work_.description(); }

    void check_memory() override {
        const side writer = conn_.part == side::initiator ? side::responder : side::initiator;
        require_content(conn_.exposed.first(conn_.exposed.size() - 1), memory_content(writer));
    }

private:
    void await() {
        const std::atomic_ref<std::byte> last(conn_.exposed.back());
        const auto expected = static_cast<std::byte>(number_);
        conn_.link.until([&] { return last.load(std::memory_order_acquire) == expected; });
    }

    const transport_connection conn_;
    accessor work_;
    std::uint64_t number_ = 0;
};

template<remote_access access>
void check(const test_params& params) {
    check_transport_test(params, [&](const uct::iface_attr& attr) {
        return mistake_in_memory_access(params, access, attr);
    });
}

}  // namespace

std::span<const test_row> transport_memory_tests() noexcept {
    using enum remote_access;
    static constexpr std::array<test_row, 4> rows{{
        {"put_lat", "put latency", quantity::latency, 0, nullptr, &check<put>,
         &make_windowed<put_latency, latency_window>},
        {"put_bw", "put bandwidth / message rate", quantity::bandwidth, 0, nullptr, &check<put>,
         &make_windowed<memory_bandwidth, bandwidth_window, put>},
        {"get", "get latency / bandwidth / message rate", quantity::operation, 0, nullptr,
         &check<get>, &make_windowed<memory_bandwidth, latency_window, get>},
        {"get_bw", "get bandwidth / message rate", quantity::bandwidth, 0, nullptr, &check<get>,
         &make_windowed<memory_bandwidth, bandwidth_window, get>},
    }};
    return rows;
}

}  // namespace tools::perf
