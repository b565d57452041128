// Messages between memory of every kind: tags, active messages and byte streams.
#include <catch2/catch.hpp>
#include <memory>

#include "test/integration/api/streams.hpp"
#include "test/support/cuda_memory.hpp"

using namespace api;
using cuda_test::kind;

namespace {

const std::vector<std::size_t> sizes{0, 1, 8, 100, 4096, 8191, 8300, 70'000, 1'000'003};

template<class Check>
void for_each_pair(Check&& check) {
    for (const kind from : cuda_test::all_kinds) {
        for (const kind to : cuda_test::all_kinds) {
            INFO("from " << cuda_test::name_of(from) << " to " << cuda_test::name_of(to));
            check(from, to);
        }
    }
}

// Bytes of a send and the memory of a receive.
struct transfer {
    transfer(kind from, kind to, std::size_t length)
        : bytes(pattern(length, static_cast<unsigned>(length) + 1)),
          source(from, bytes),
          target(to, length + 5) {}

    void check() const {
        CHECK(target.read(0, bytes.size()) == bytes);
        // Nothing behind the message is touched.
        CHECK(target.read(bytes.size(), 5) == std::vector<std::byte>(5));
    }

    std::vector<std::byte> bytes;
    cuda_test::memory source;
    cuda_test::memory target;
};

void tagged(const world& in, kind from, kind to, bool expected, bool sync) {
    for (const std::size_t length : sizes) {
        INFO("length " << length << (expected ? ", expected" : "") << (sync ? ", sync" : ""));
        const transfer moved(from, to, length);
        const auto send = sync ? ucp_tag_send_sync_nbx : ucp_tag_send_nbx;
        const auto post = [&] {
            return ucp_tag_recv_nbx(in.receiver, moved.target.data(), length + 5, 1, all_bits,
                                    &none);
        };
        ucs_status_ptr_t receiving = expected ? post() : nullptr;
        const ucs_status_ptr_t sending = send(in.ep, moved.source.data(), length, 1, &none);
        if (!expected) {
            in.await_unexpected(1);
            receiving = post();
        }
        CHECK(in.finish(receiving) == UCS_OK);
        CHECK(in.finish(sending) == UCS_OK);
        moved.check();
    }
}

// An active message whose data is received into memory of the test.
struct data_receiver {
    ucp_worker_h worker;
    std::byte* into;
    std::size_t capacity;
    ucs_status_ptr_t started = nullptr;
    bool arrived = false;

    static ucs_status_t take(void* arg, const void*, std::size_t, void* data, std::size_t length,
                             const ucp_am_recv_param_t* param) {
        auto& self = *static_cast<data_receiver*>(arg);
        self.arrived = true;
        if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
            cuda_test::CUdeviceptr to = reinterpret_cast<cuda_test::CUdeviceptr>(self.into);
            if (length > 0) {
                cuda_test::CUstream stream = nullptr;
                cuda_test::cuStreamCreate(&stream, cuda_test::CU_STREAM_NON_BLOCKING);
                cuda_test::cuMemcpyAsync(to, reinterpret_cast<cuda_test::CUdeviceptr>(data), length,
                                         stream);
                cuda_test::cuStreamSynchronize(stream);
                cuda_test::cuStreamDestroy_v2(stream);
            }
            return UCS_OK;
        }
        self.started = ucp_am_recv_data_nbx(self.worker, data, self.into, self.capacity, &none);
        return UCS_OK;
    }
};

world_options with_active_messages() {
    world_options options;
    options.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
    return options;
}

}  // namespace

TEST_CASE("tagged messages move between memory of every kind") {
    const cuda_test::current_device first;
    const world in;
    for_each_pair([&](kind from, kind to) {
        tagged(in, from, to, true, false);
        tagged(in, from, to, false, false);
        tagged(in, from, to, true, true);
    });
}

TEST_CASE("active messages move between memory of every kind") {
    const cuda_test::current_device first;
    const world in(with_active_messages());
    for (const unsigned flag :
         {0U, unsigned{UCP_AM_SEND_FLAG_EAGER}, unsigned{UCP_AM_SEND_FLAG_RNDV}}) {
        for_each_pair([&](kind from, kind to) {
            for (const std::size_t length : sizes) {
                INFO("length " << length << ", flag " << flag);
                const transfer moved(from, to, length);
                data_receiver into{in.receiver, moved.target.data(), length + 5};
                set_am_handler(in.receiver, 2, data_receiver::take, &into);
                const params options = params().flags_of_call(flag);
                const char header[] = "header";
                const ucs_status_ptr_t sending = ucp_am_send_nbx(
                    in.ep, 2, header, sizeof header, moved.source.data(), length, &options);
                REQUIRE(in.progress_until([&] { return into.arrived; }));
                CHECK(in.finish(into.started) == UCS_OK);
                CHECK(in.finish(sending) == UCS_OK);
                moved.check();
            }
        });
    }
}

TEST_CASE("byte streams move between memory of every kind") {
    const cuda_test::current_device first;
    const pair in;
    for_each_pair([&](kind from, kind to) {
        for (const std::size_t length : sizes) {
            INFO("length " << length);
            const transfer moved(from, to, length);
            std::size_t got = 0;
            const params all = params().flags_of_call(UCP_STREAM_RECV_FLAG_WAITALL);
            const ucs_status_ptr_t sending =
                ucp_stream_send_nbx(in.ep, moved.source.data(), length, &none);
            if (length > 0) {
                CHECK(in.finish(ucp_stream_recv_nbx(in.back, moved.target.data(), length, &got,
                                                    &all)) == UCS_OK);
            }
            CHECK(in.finish(sending) == UCS_OK);
            moved.check();
        }
    });
}

TEST_CASE("tagged messages move between the devices of a process") {
    const int devices = cuda_test::driver::find()->devices();
    const world in;
    for (int from = 0; from < devices; ++from) {
        for (int to = 0; to < devices; ++to) {
            for (const std::size_t length : {std::size_t{8}, std::size_t{100'000}}) {
                INFO("from device " << from << " to " << to << ", length " << length);
                const auto bytes = pattern(length, 21);
                std::unique_ptr<cuda_test::memory> source, target;
                const cuda_test::current_device first(from);
                source = std::make_unique<cuda_test::memory>(kind::device, bytes);
                const cuda_test::current_device second(to);
                target = std::make_unique<cuda_test::memory>(kind::device, length);
                const ucs_status_ptr_t receiving =
                    ucp_tag_recv_nbx(in.receiver, target->data(), length, 7, all_bits, &none);
                CHECK(in.finish(ucp_tag_send_nbx(in.ep, source->data(), length, 7, &none)) ==
                      UCS_OK);
                CHECK(in.finish(receiving) == UCS_OK);
                CHECK(target->read() == bytes);
                target.reset();
                // The stream of the source's memory belongs to its device.
                const cuda_test::current_device again(from);
                source.reset();
            }
        }
    }
}

TEST_CASE("lists of pieces of several kinds of memory are sent and received") {
    const cuda_test::current_device first;
    const world in;
    for (const std::size_t part : {std::size_t{3}, std::size_t{5000}, std::size_t{200'000}}) {
        const auto bytes = pattern(part * cuda_test::all_kinds.size(), 9);
        std::vector<std::unique_ptr<cuda_test::memory>> memories;
        std::vector<ucp_dt_iov_t> from, to;
        for (std::size_t i = 0; i < cuda_test::all_kinds.size(); ++i) {
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i * part);
            const std::vector<std::byte> own(begin, begin + static_cast<std::ptrdiff_t>(part));
            memories.push_back(std::make_unique<cuda_test::memory>(cuda_test::all_kinds[i], own));
            from.push_back({memories.back()->data(), part});
            const kind other = cuda_test::all_kinds[cuda_test::all_kinds.size() - 1 - i];
            memories.push_back(std::make_unique<cuda_test::memory>(other, part));
            to.push_back({memories.back()->data(), part});
        }
        const params pieces = params().type(UCP_DATATYPE_IOV);
        const ucs_status_ptr_t receiving =
            ucp_tag_recv_nbx(in.receiver, to.data(), to.size(), 4, all_bits, &pieces);
        CHECK(in.finish(ucp_tag_send_nbx(in.ep, from.data(), from.size(), 4, &pieces)) == UCS_OK);
        CHECK(in.finish(receiving) == UCS_OK);
        std::vector<std::byte> got;
        for (std::size_t i = 1; i < memories.size(); i += 2) {
            const auto each = memories[i]->read();
            got.insert(got.end(), each.begin(), each.end());
        }
        CHECK(got == bytes);
    }
}

TEST_CASE("a message that is too long for memory of a device is truncated") {
    const cuda_test::current_device first;
    const world in;
    for (const std::size_t length : {std::size_t{100}, std::size_t{300'000}}) {
        const auto bytes = pattern(length, 3);
        const cuda_test::memory from(kind::device, bytes);
        const cuda_test::memory to(kind::device, length);
        const ucs_status_ptr_t receiving =
            ucp_tag_recv_nbx(in.receiver, to.data(), length / 2, 5, all_bits, &none);
        CHECK(in.finish(ucp_tag_send_nbx(in.ep, from.data(), length, 5, &none)) == UCS_OK);
        CHECK(in.finish(receiving) == UCS_ERR_MESSAGE_TRUNCATED);
        CHECK(to.read(length / 2, 16) == std::vector<std::byte>(16));
    }
}

TEST_CASE("freed memory of a device is refused, and messages of the host go on") {
    const cuda_test::current_device first;
    const world in;
    cuda_test::CUdeviceptr address = 0;
    cuda_test::cuMemAlloc_v2(&address, std::size_t{4 << 20});
    cuda_test::cuMemFree_v2(address);
    auto* const gone = reinterpret_cast<void*>(address);
    captured_output log;
    const ucs_status_ptr_t sent = ucp_tag_send_nbx(in.ep, gone, 100, 6, &none);
    const ucs_status_ptr_t received = ucp_tag_recv_nbx(in.receiver, gone, 100, 6, all_bits, &none);
    const std::string text = log.text();
    INFO(text);
    CHECK(UCS_PTR_RAW_STATUS(sent) == UCS_ERR_INVALID_PARAM);
    CHECK(UCS_PTR_RAW_STATUS(received) == UCS_ERR_INVALID_PARAM);
    CHECK(text.find("neither memory of the host nor of a device") != std::string::npos);
    in.exchange(in.ep, in.receiver, 100);
}
