// The faulty process: a normal program whose transports change what it sends, while another thread
// writes into messages in shared memory.
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "test/adversary/faulty_peer/mutating_transport.hpp"
#include "test/adversary/faulty_peer/program.hpp"
#include "ucp/capi/handles.hpp"
#include "uct/components/components.hpp"

namespace adversary {
namespace {

constexpr unsigned steps = 1500;
constexpr unsigned turns_per_step = 8;

// Writes into the message that was sent last, and with `wild` around it, while the receiver reads
// it. The memory may be unmapped at any time, so the kernel writes and reports an error.
void write_into_messages(std::uint64_t seed, bool wild, const std::atomic<bool>& ends) {
    std::mt19937_64 random(seed);
    while (!ends.load(std::memory_order_relaxed)) {
        const sent_bytes message = mutator::last_sent();
        if (message.begin == nullptr || message.length == 0) {
            std::this_thread::yield();
            continue;
        }
        constexpr std::size_t header_bytes = 96;
        const std::size_t reach = std::min(message.length, header_bytes);
        std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(random() % reach);
        if (wild && random() % 8 == 0) offset -= static_cast<std::ptrdiff_t>(random() % 512);
        std::uint64_t value = random() % 2 == 0 ? random() : random() % 2 - 1;
        const std::size_t length = random() % 4 == 0 ? sizeof value : 1;
        const ::iovec from{&value, length};
        const ::iovec to{message.begin + offset, length};
        static_cast<void>(::process_vm_writev(::getpid(), &from, 1, &to, 1, 0));
    }
}

// A send or receive with its memory, which the library owns until the operation ends.
struct operation {
    std::vector<std::byte> memory;
};

void free_sent(void* request, ucs_status_t, void* arg) {
    delete static_cast<operation*>(arg);
    ucp_request_free(request);
}
void free_received(void* request, ucs_status_t, const ucp_tag_recv_info_t*, void* arg) {
    delete static_cast<operation*>(arg);
    ucp_request_free(request);
}

class peer {
public:
    explicit peer(std::uint64_t seed) : random_(seed), mutator_(seed) {
        std::vector<const uct::component*> list;
        for (const uct::component* each : uct::builtin_components()) {
            components_.push_back(make_mutating(*each, mutator_));
            list.push_back(components_.back().get());
        }
        ucp::context_params params;
        params.features = features;
        auto source = ucs::config::source::read("", "");
        must(source.ok(), "no configuration");
        auto made = ucp::context::create(params, std::move(*source), list);
        must(made.ok(), "no context");
        context_ = std::move(*made);
        worker_ = make_worker(ucp::capi::handle(*context_));
        memory_ = std::make_unique<shared_memory>(ucp::capi::handle(*context_));
    }

    void run() {
        write_to(stdout, {address_of(worker_), memory_->packed_key(), memory_->address()});
        const auto victim = read_from(stdin);
        if (!victim) return;
        victim_ = *victim;
        connect();
        // In most runs the connection is complete before the attack begins.
        const bool attacks_at_once = random_() % 4 == 0;
        for (int i = 0; i < 2000 && !attacks_at_once; ++i)
            ucp_worker_progress(worker_);
        mutator_.start();
        std::atomic<bool> ends = false;
        const bool wild = random_() % 4 == 0;
        std::thread writer([&, seed = random_()] { write_into_messages(seed, wild, ends); });
        for (unsigned i = 0; i < steps; ++i) {
            step();
            for (auto turn = random_() % turns_per_step; turn > 0; --turn)
                ucp_worker_progress(worker_);
        }
        ends = true;
        writer.join();
    }

private:
    void connect() {
        ep_ = make_ep(
            worker_, victim_.address,
            [](void* arg, ucp_ep_h, ucs_status_t) { static_cast<peer*>(arg)->lost_ = true; }, this);
        lost_ = false;
        rkey_ = nullptr;
        static_cast<void>(ucp_ep_rkey_unpack(ep_, victim_.rkey.data(), &rkey_));
    }

    void step() {
        if (lost_ || random_() % 100 == 0) {
            ucp_request_param_t force{};
            force.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
            if (random_() % 2 == 0) force.flags = UCP_EP_CLOSE_FLAG_FORCE;
            const ucs_status_ptr_t closing = ucp_ep_close_nbx(ep_, &force);
            if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
            if (rkey_ != nullptr) ucp_rkey_destroy(rkey_);
            connect();
        }
        static constexpr std::size_t sizes[] = {0, 8, 100, 3000, 20000, 200000};
        auto* const fresh = new operation{std::vector<std::byte>(sizes[random_() % 6])};
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param.user_data = fresh;
        param.cb.send = free_sent;
        const ucs_status_ptr_t started = start(*fresh, param);
        if (!UCS_PTR_IS_PTR(started)) delete fresh;
    }

    ucs_status_ptr_t start(operation& fresh, ucp_request_param_t& param) {
        void* const data = fresh.memory.data();
        const std::size_t length = fresh.memory.size();
        const std::uint64_t tag = random_() % 8;
        const std::uint64_t address = victim_.memory + random_() % shared_length;
        switch (random_() % 8) {
            case 0:
                return ucp_tag_send_nbx(ep_, data, length, tag, &param);
            case 1:
                return ucp_tag_send_sync_nbx(ep_, data, length, tag, &param);
            case 2:
                param.cb.recv = free_received;
                return ucp_tag_recv_nbx(worker_, data, length, 0, 0, &param);
            case 3: {
                static constexpr std::byte header[64]{};
                param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
                param.flags = UCP_AM_SEND_FLAG_COPY_HEADER;
                if (random_() % 2 == 0) param.flags |= UCP_AM_SEND_FLAG_RNDV;
                return ucp_am_send_nbx(ep_, am_id, header, random_() % 64, data, length, &param);
            }
            case 4:
                return ucp_stream_send_nbx(ep_, data, length, &param);
            case 5:
                if (rkey_ == nullptr) return nullptr;
                return ucp_put_nbx(ep_, data, std::min(length, shared_length / 2), address, rkey_,
                                   &param);
            case 6:
                if (rkey_ == nullptr) return nullptr;
                return ucp_get_nbx(ep_, data, std::min(length, shared_length / 2), address, rkey_,
                                   &param);
            default:
                return ucp_ep_flush_nbx(ep_, &param);
        }
    }

    std::mt19937_64 random_;
    mutator mutator_;
    std::vector<std::unique_ptr<uct::component>> components_;
    std::unique_ptr<ucp::context> context_;
    ucp_worker_h worker_ = nullptr;
    std::unique_ptr<shared_memory> memory_;
    introduction victim_;
    ucp_ep_h ep_ = nullptr;
    ucp_rkey_h rkey_ = nullptr;
    bool lost_ = false;
};

}  // namespace

int run_peer(std::uint64_t seed) {
    auto* const made = new peer(seed);
    made->run();
    std::fflush(nullptr);
    ::_exit(0);  // as a process that dies: the victim gets no message
}

}  // namespace adversary
