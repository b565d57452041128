// All families of functions at once, from several threads on one pair of workers.
#include <sched.h>

#include <atomic>
#include <thread>

#include "test/integration/api/remote.hpp"

using namespace api;

namespace {

constexpr std::size_t sizes[] = {8, 300, 20'000, 100'000};
constexpr std::size_t longest = 100'000;

world_options all_features() {
    world_options options;
    options.threads = UCS_THREAD_MODE_MULTI;
    options.features =
        UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
    return options;
}

std::size_t size_of(int round) {
    return sizes[static_cast<std::size_t>(round) % std::size(sizes)];
}

// State that all threads share. Each thread counts its failed operations.
struct common : remote_world {
    ucp_ep_h back;
    remote_memory memory{*this, 4 * longest + 8, true};
    std::vector<std::byte> address;

    common()
        : remote_world(all_features()),
          back(target == worker ? ep : make_ep(target, worker)),
          address(address_of(target)) {
        if (back != ep) REQUIRE(finish(ucp_ep_flush_nbx(back, &none)) == UCS_OK);
        std::memset(memory.base(), 0, 4 * longest + 8);
    }
    ~common() {
        if (back != ep) finish(ucp_ep_close_nb(back, UCP_EP_CLOSE_MODE_FLUSH));
    }
};

int exchange(const common& in, ucp_ep_h ep, ucp_tag_t tag, std::size_t length) {
    const auto data = pattern(length, static_cast<unsigned>(tag));
    std::vector<std::byte> into(length);
    const auto recv = ucp_tag_recv_nbx(in.target, into.data(), length, tag, all_bits, &none);
    const auto send = ucp_tag_send_nbx(ep, data.data(), length, tag, &none);
    int wrong = in.count_failure(send);
    wrong += in.count_failure(recv);
    return wrong + (into == data ? 0 : 1);
}

int tagged(const common& in, unsigned thread, int rounds) {
    int wrong = 0;
    for (int i = 0; i < rounds; ++i)
        wrong += exchange(in, in.ep, thread, size_of(i));
    return wrong;
}

// An active message handler. It is called in the thread that makes progress.
struct sink {
    std::atomic<int> right{0};
    std::atomic<int> wrong{0};
    ucp_worker_h worker = nullptr;

    // Data of a rendezvous message that is being received.
    struct fetch {
        sink* owner;
        unsigned seed;
        std::vector<std::byte> data;
        void count_result(ucs_status_t status) {
            owner->count_result(status == UCS_OK && data == pattern(data.size(), seed));
            delete this;
        }
    };
    void count_result(bool is_right) { ++(is_right ? right : wrong); }

    static ucs_status_t call(void* arg, const void* header, std::size_t header_length, void* data,
                             std::size_t length, const ucp_am_recv_param_t* param) {
        auto& self = *static_cast<sink*>(arg);
        unsigned seed = 0;
        if (header_length == sizeof seed) std::memcpy(&seed, header, sizeof seed);
        if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
            const auto expected = pattern(length, seed);
            self.count_result(std::memcmp(data, expected.data(), length) == 0);
            return UCS_OK;
        }
        auto* const incoming = new fetch{&self, seed, std::vector<std::byte>(length)};
        params options;
        options.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* user_data) {
            static_cast<fetch*>(user_data)->count_result(status);
            ucp_request_free(request);
        };
        options.user_data = incoming;
        options.flag(UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA);
        const ucs_status_ptr_t started =
            ucp_am_recv_data_nbx(self.worker, data, incoming->data.data(), length, &options);
        if (!UCS_PTR_IS_PTR(started)) incoming->count_result(UCS_PTR_RAW_STATUS(started));
        return UCS_INPROGRESS;
    }
    void install(ucp_worker_h target, unsigned id) {
        worker = target;
        set_am_handler(target, id, call, this, UCP_AM_FLAG_WHOLE_MSG);
    }
};

int active(const common& in, sink& handler, unsigned id, int rounds) {
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
        const unsigned seed = id * 1000 + static_cast<unsigned>(i);
        const auto data = pattern(size_of(i), seed);
        const params options = params().flags_of_call(UCP_AM_SEND_FLAG_RNDV, i % 3 == 0);
        wrong += in.count_failure(
            ucp_am_send_nbx(in.ep, id, &seed, sizeof seed, data.data(), data.size(), &options));
    }
    while (handler.right + handler.wrong < rounds) {
        in.progress();
        ::sched_yield();
    }
    return wrong + handler.wrong;
}

// Accesses a part of the memory that no other thread uses, and a number to which all threads add.
int access_remote(const common& in, unsigned part, int rounds) {
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto data = pattern(size_of(i), part * 1000 + static_cast<unsigned>(i));
        std::vector<std::byte> into(data.size());
        const std::uint64_t address = in.memory.address(8 + part * longest);
        const auto put =
            ucp_put_nbx(in.ep, data.data(), data.size(), address, in.memory.key(), &none);
        wrong += in.count_failure(i % 2 == 0 ? ucp_ep_flush_nbx(in.ep, &none)
                                             : ucp_worker_flush_nbx(in.worker, &none));
        wrong += in.count_failure(put);
        wrong += in.count_failure(
            ucp_get_nbx(in.ep, into.data(), into.size(), address, in.memory.key(), &none));
        wrong += into == data ? 0 : 1;
        const std::uint64_t one = 1;
        const params word = params().type(ucp_dt_make_contig(8));
        wrong += in.count_failure(ucp_atomic_op_nbx(in.ep, UCP_ATOMIC_OP_ADD, &one, 1,
                                                    in.memory.address(), in.memory.key(), &word));
    }
    return wrong + in.count_failure(ucp_ep_flush_nbx(in.ep, &none));
}

int streamed(const common& in, int rounds) {
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto data = pattern(size_of(i), static_cast<unsigned>(i));
        std::vector<std::byte> into(data.size());
        std::size_t length = 0;
        const params whole = params().flags_of_call(UCP_STREAM_RECV_FLAG_WAITALL);
        const auto send = ucp_stream_send_nbx(in.ep, data.data(), data.size(), &none);
        const auto recv = ucp_stream_recv_nbx(in.back, into.data(), into.size(), &length, &whole);
        wrong += in.count_failure(recv);
        wrong += in.count_failure(send);
        wrong += into == data ? 0 : 1;
    }
    return wrong;
}

// Creates, uses and closes endpoints, with and without error handling, with both close modes.
int connecting(const common& in, unsigned thread, int rounds) {
    int wrong = 0;
    const params force = params().flags_of_call(UCP_EP_CLOSE_FLAG_FORCE);
    for (int i = 0; i < rounds; ++i) {
        const bool handles = i % 2 == 1;
        const ucp_ep_params_t options = handles ? ep_params_for(in.address.data(), nullptr, nullptr)
                                                : ep_params_for(in.address.data());
        ucp_ep_h ep = nullptr;
        if (ucp_ep_create(in.worker, &options, &ep) != UCS_OK) {
            ++wrong;
            continue;
        }
        wrong += exchange(in, ep, 1000 + thread, size_of(i));
        wrong += in.count_failure(ucp_ep_close_nbx(ep, handles ? &force : &none));
    }
    return wrong;
}

}  // namespace

TEST_CASE(
    "eight threads use tags, active messages, memory, streams and new endpoints at the same time") {
    const common in;
    constexpr int rounds = 16;
    constexpr unsigned id = 7;
    sink messages;
    messages.install(in.target, id);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    threads.emplace_back([&] { wrong += tagged(in, 1, rounds); });
    threads.emplace_back([&] { wrong += tagged(in, 2, rounds); });
    threads.emplace_back([&] { wrong += active(in, messages, id, rounds); });
    threads.emplace_back([&] { wrong += access_remote(in, 0, rounds); });
    threads.emplace_back([&] { wrong += access_remote(in, 1, rounds); });
    threads.emplace_back([&] { wrong += streamed(in, rounds); });
    threads.emplace_back([&] { wrong += connecting(in, 1, rounds); });
    threads.emplace_back([&] { wrong += connecting(in, 2, rounds); });
    for (std::thread& each : threads)
        each.join();
    CHECK(wrong == 0);
    CHECK(messages.right == rounds);
    std::uint64_t counted;
    std::memcpy(&counted, in.memory.base(), sizeof counted);
    CHECK(counted == 2 * rounds);
}
