#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "ucg/oob/factories.hpp"
#include "ucg/oob/log.hpp"
#include "ucg/oob/own_blocks.hpp"
#include "ucg/oob/pmix/library.hpp"
#include "ucs/security/key.hpp"
#include "ucs/type/allocated.hpp"

namespace ucg::oob {
namespace {

// Limits the block requests of one call, so that a call is short.
constexpr rank_t max_requests = 128;
// After the deadline of a round, the time for the server to report which ranks have arrived.
constexpr ucs::time::nanoseconds reply_time = 2 * ucs::time::second;

ucs_status_t status_of(pmix_status_t status) noexcept {
    switch (status) {
        case PMIX_SUCCESS:
        case PMIX_OPERATION_SUCCEEDED:
            return UCS_OK;
        case PMIX_ERR_TIMEOUT:
            return UCS_ERR_TIMED_OUT;
        case PMIX_ERR_NOMEM:
            return UCS_ERR_NO_MEMORY;
        case PMIX_ERR_UNREACH:
        case PMIX_ERR_LOST_CONNECTION:
        case PMIX_ERR_PROC_TERM_WO_SYNC:
        case PMIX_ERR_PROC_KILLED_BY_CMD:
        case PMIX_ERR_PROC_ABORTED_BY_SIG:
        case PMIX_ERR_PROC_REQUESTED_ABORT:
            return UCS_ERR_CONNECTION_RESET;
        default:
            return UCS_ERR_IO_ERROR;
    }
}

// The replies of PMIx, which the library's thread writes, possibly after this rank gave up the
// round. Shared with the outstanding requests.
struct block_replies {
    explicit block_replies(rank_t size) : blocks(size), has_arrived(size) {}

    std::atomic<bool> fence_ended{false};
    std::atomic<pmix_status_t> fence_status{PMIX_SUCCESS};
    std::mutex lock;
    // The lock protects these:
    std::vector<std::vector<std::byte>> blocks;
    std::vector<bool> has_arrived;
    rank_t count = 0;
    pmix_status_t error = PMIX_SUCCESS;
};

// A looked-up block. The library's thread writes it, possibly after the look-up was withdrawn.
struct lookup {
    std::mutex lock;
    bool is_done = false;
    pmix_status_t status = PMIX_SUCCESS;
    std::vector<std::byte> block;
};

// Stores the block that PMIx got. Returns the final status.
pmix_status_t read_block(pmix_status_t status, const pmix_value_t* value,
                         std::vector<std::byte>& block) noexcept {
    if (status != PMIX_SUCCESS) return status;
    if (value == nullptr || value->type != PMIX_BYTE_OBJECT) return PMIX_ERR_NOT_FOUND;
    const auto* const from = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
    return ucs::allocated([&] { block.assign(from, from + value->data.bo.size); }) ? PMIX_SUCCESS
                                                                                   : PMIX_ERR_NOMEM;
}

void lookup_arrived(pmix_status_t status, pmix_value_t* value, void* arg) {
    const std::unique_ptr<std::shared_ptr<lookup>> request(
        static_cast<std::shared_ptr<lookup>*>(arg));
    lookup& result = **request;
    const std::lock_guard guard(result.lock);
    result.status = read_block(status, value, result.block);
    result.is_done = true;
}

struct block_request {
    std::shared_ptr<block_replies> replies;
    rank_t rank = 0;
};

void fence_ended(pmix_status_t status, void* arg) {
    const std::unique_ptr<block_request> request(static_cast<block_request*>(arg));
    request->replies->fence_status.store(status, std::memory_order_relaxed);
    request->replies->fence_ended.store(true, std::memory_order_release);
}

void block_arrived(pmix_status_t status, pmix_value_t* value, void* arg) {
    const std::unique_ptr<block_request> request(static_cast<block_request*>(arg));
    block_replies& replies = *request->replies;
    const std::lock_guard guard(replies.lock);
    status = read_block(status, value, replies.blocks[request->rank]);
    if (status == PMIX_SUCCESS)
        replies.has_arrived[request->rank] = true;
    else
        replies.error = status;
    ++replies.count;
}

// The major number of the first version in a text such as "OpenPMIx 4.2.2, repo rev: ..."; 0: none.
unsigned major_version(const char* text) noexcept {
    if (text == nullptr) return 0;
    const char* const digits = text + std::strcspn(text, "0123456789");
    return static_cast<unsigned>(std::strtoul(digits, nullptr, 10));
}

// Servers of PMIx 5 do not understand how libpmix 4 packs the message of PMIx_Init: they print
// PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER for each process, and go on. Both sides support the
// packing of version 3. This object requests that packing during PMIx_Init, unless the user has
// selected one.
class packing_for_newer_server {
public:
    explicit packing_for_newer_server(const pmix_library& library) noexcept
        : asks_(major_version(library.version()) == 4 &&
                major_version(std::getenv("PMIX_VERSION")) > 4 && std::getenv(name) == nullptr) {
        if (asks_) ::setenv(name, "v3", 1);
    }
    packing_for_newer_server(const packing_for_newer_server&) = delete;
    packing_for_newer_server& operator=(const packing_for_newer_server&) = delete;
    ~packing_for_newer_server() {
        if (asks_) ::unsetenv(name);
    }

private:
    static constexpr const char* name = "PMIX_MCA_bfrops";
    const bool asks_;
};

// The PMIx session of this process. It stays open until the process ends, because libpmix 4 hangs
// if it is initialised again after its finalisation. Launchers treat a process that ends without
// finalisation as failed.
class session {
public:
    // Opens the session at the first call. UCS_ERR_UNSUPPORTED, UCS_ERR_UNREACHABLE, with a line in
    // the log.
    static ucs::result<const session*> get() {
        static std::mutex lock;
        static std::unique_ptr<session> only;
        const std::lock_guard guard(lock);
        if (!only) {
            auto opened = open();
            if (!opened) return opened.status();
            only = std::move(*opened);
        }
        if (only->status_ != UCS_OK) return only->status_;
        if (only->process_ == ::getpid()) return only.get();
        ucs::log::error(oob_log, "PMIx knows the parent of this process, not this process itself");
        return UCS_ERR_UNREACHABLE;
    }

    ~session() {
        if (is_open_ && process_ == ::getpid()) static_cast<void>(library_.finalize(nullptr, 0));
    }

    // An abandoned fence still waits for the other ranks, which would match it with the next fence.
    static void mark_abandoned() noexcept { abandoned_.store(true, std::memory_order_relaxed); }
    static bool has_abandoned() noexcept { return abandoned_.load(std::memory_order_relaxed); }

    [[nodiscard]] const pmix_library& library() const noexcept { return library_; }
    [[nodiscard]] rank_t rank() const noexcept { return self_.rank; }
    [[nodiscard]] rank_t size() const noexcept { return size_; }
    [[nodiscard]] pmix_proc_t peer(rank_t rank) const noexcept {
        pmix_proc_t process = self_;
        process.rank = rank;
        return process;
    }

private:
    explicit session(const pmix_library& library) noexcept : library_(library) {}

    static ucs::result<std::unique_ptr<session>> open() {
        std::string reason;
        const pmix_library* const library = pmix_library::load(reason);
        if (library == nullptr) {
            ucs::log::error(
                oob_log,
                "PMIx is selected and cannot be used: {}; install it, or choose another "
                "way by UCG_OOB=tcp or directory",
                reason);
            return UCS_ERR_UNSUPPORTED;
        }
        auto made = std::unique_ptr<session>(new session(*library));
        const pmix_status_t status = [&] {
            const packing_for_newer_server packing(*library);
            return library->init(&made->self_, nullptr, 0);
        }();
        if (status != PMIX_SUCCESS) {
            ucs::log::error(oob_log,
                            "PMIx_Init: {}; start the program by a launcher with PMIx (mpirun, "
                            "prterun, srun --mpi=pmix)",
                            library->error_string(status));
            return UCS_ERR_UNREACHABLE;
        }
        made->is_open_ = true;
        // The session stays open even if this fails, because it cannot be opened again.
        made->status_ = made->query_size();
        return made;
    }

    ucs_status_t query_size() {
        const pmix_proc_t all = peer(PMIX_RANK_WILDCARD);
        pmix_value_t* value = nullptr;
        const pmix_status_t status = library_.get_now(&all, PMIX_JOB_SIZE, nullptr, 0, &value);
        if (status == PMIX_SUCCESS && value != nullptr) {
            if (value->type == PMIX_UINT32) size_ = value->data.uint32;
            library_.destruct_value(value);
            std::free(value);
        }
        if (size_ != 0 && self_.rank < size_) return UCS_OK;
        ucs::log::error(oob_log, "PMIx does not say how many ranks this job has: {}",
                        library_.error_string(status));
        return UCS_ERR_UNREACHABLE;
    }

    const pmix_library& library_;
    const pid_t process_ = ::getpid();
    pmix_proc_t self_{};
    rank_t size_ = 0;
    bool is_open_ = false;
    ucs_status_t status_ = UCS_OK;  // an error if PMIx does not report the rank or the number of
                                    // ranks
    static inline std::atomic<bool> abandoned_{false};
};

ucs_status_t refuse_after_abandoned() noexcept {
    ucs::log::error(oob_log,
                    "a round over PMIx did not end in this process: no other one can follow it; "
                    "start the job again, or choose another way by UCG_OOB=tcp or directory");
    return UCS_ERR_CANCELED;
}

// Each rank puts its block at its server, and a fence distributes the blocks to all servers. Owner
// context.
class pmix final : public exchange {
public:
    pmix(const rank_params& self, const session& launcher, unsigned instance) noexcept
        : exchange(self), launcher_(launcher), instance_(instance) {
        take_ownership();  // the launcher identifies the rank with this process
    }
    // The launcher's servers check the user of each process, and disclose nothing to other users.
    bool is_private() const noexcept override { return true; }

private:
    ucs_status_t start() override {
        if (size() == 1) return UCS_OK;  // the round ends at once, but a fence would not
        if (session::has_abandoned()) return refuse_after_abandoned();
        // This rank puts a block even if it has no bytes, because the block shows that the rank has
        // arrived.
        key_ = fmt::format("hawser.oob.{}.{}", instance_, current().number);
        state_ = std::make_shared<block_replies>(size());
        requested_ = 0;
        is_past_deadline_ = false;
        const auto own = block(rank());
        char none = 0;
        pmix_value_t value{};
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo.bytes = own.empty() ? &none : reinterpret_cast<char*>(own.data());
        value.data.bo.size = std::max<std::size_t>(own.size(), 1);
        pmix_status_t status = launcher_.library().put(PMIX_GLOBAL, key_.c_str(), &value);
        if (status != PMIX_SUCCESS) return log_error("PMIx_Put", status);
        status = launcher_.library().commit();
        if (status != PMIX_SUCCESS) return log_error("PMIx_Commit", status);
        return begin_fence();
    }

    ucs_status_t begin_fence() {
        auto request = std::make_unique<block_request>(block_request{state_});
        const pmix_status_t status =
            launcher_.library().fence(nullptr, 0, &collect(), 1, fence_ended, request.get());
        if (status == PMIX_SUCCESS) {
            static_cast<void>(request.release());  // the callback frees it
            is_fencing_ = true;
            return UCS_OK;
        }
        if (status != PMIX_OPERATION_SUCCEEDED) return log_error("PMIx_Fence", status);
        state_->fence_ended = true;
        return UCS_OK;
    }

    // The info lives longer than the fence.
    static const pmix_info_t& collect() {
        static const pmix_info_t info = [] {
            pmix_info_t made{};
            std::strncpy(made.key, PMIX_COLLECT_DATA, sizeof made.key - 1);
            made.value.type = PMIX_BOOL;
            made.value.data.flag = true;
            return made;
        }();
        return info;
    }

    ucs_status_t advance() override {
        if (is_past_deadline_) return report_missing();
        if (!state_->fence_ended.load(std::memory_order_acquire)) {
            if (!is_late()) return UCS_INPROGRESS;
            is_past_deadline_ = true;
            reply_deadline_ = ucs::time::now() + reply_time;
            return report_missing();
        }
        const pmix_status_t status = state_->fence_status.load(std::memory_order_relaxed);
        if (status_of(status) != UCS_OK) return log_error("PMIx_Fence", status);
        if (const ucs_status_t sent = request_blocks(); sent != UCS_OK) return sent;
        return read_blocks();
    }

    ucs_status_t request_blocks() {
        const rank_t end = requested_ + std::min(max_requests, size() - requested_);
        for (; requested_ < end; ++requested_) {
            auto request = std::make_unique<block_request>(block_request{state_, requested_});
            const pmix_proc_t peer = launcher_.peer(requested_);
            const pmix_status_t status = launcher_.library().get(&peer, key_.c_str(), nullptr, 0,
                                                                 block_arrived, request.get());
            if (status != PMIX_SUCCESS) return log_error("PMIx_Get", status);
            static_cast<void>(request.release());
        }
        return UCS_OK;
    }

    ucs_status_t read_blocks() {
        const std::lock_guard guard(state_->lock);
        if (state_->error != PMIX_SUCCESS) return log_error("PMIx_Get", state_->error);
        if (state_->count < size()) return is_late() ? log_missing() : UCS_INPROGRESS;
        for (rank_t from = 0; from < size(); ++from) {
            const auto& received = state_->blocks[from];
            if (received.size() != std::max<std::size_t>(current().bytes, 1))
                return log_size_mismatch(from, received.size());
            if (current().bytes != 0)
                std::memcpy(block(from).data(), received.data(), received.size());
        }
        return UCS_OK;
    }

    // The deadline has passed before the fence ended: reports the ranks whose blocks have not
    // arrived.
    ucs_status_t report_missing() {
        if (const ucs_status_t sent = request_blocks(); sent != UCS_OK) return sent;
        const std::lock_guard guard(state_->lock);
        if (state_->count < size() && ucs::time::now() < reply_deadline_) return UCS_INPROGRESS;
        return log_missing();
    }

    ucs_status_t log_missing() {
        std::vector<rank_t> missing;
        for (rank_t peer = 0; peer < size(); ++peer)
            if (!state_->has_arrived[peer]) missing.push_back(peer);
        return log_timeout(missing, {});
    }

    // The next round commits the block, and its fence distributes it to the servers of all ranks.
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override {
        if (size() == 1) {
            own_.put(number, block);
            return UCS_OK;
        }
        pmix_value_t value{};
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(block.data()));
        value.data.bo.size = block.size();
        const std::string key = key_of(number);
        const pmix_status_t status = launcher_.library().put(PMIX_GLOBAL, key.c_str(), &value);
        return status == PMIX_SUCCESS ? UCS_OK : log_error("PMIx_Put", status);
    }

    ucs_status_t find(std::uint64_t number, rank_t publisher, std::span<std::byte> into,
                      std::size_t& bytes) override {
        if (size() == 1) return copy_block(own_.find(number), into, bytes);
        auto& request = lookups_[{number, publisher}];
        if (request == nullptr) {
            if (const ucs_status_t status = request_block(number, publisher, request);
                status != UCS_OK) {
                lookups_.erase({number, publisher});
                return status;
            }
        }
        const std::shared_ptr<lookup> found = request;
        const std::lock_guard guard(found->lock);
        if (!found->is_done) return UCS_INPROGRESS;
        if (found->status != PMIX_SUCCESS) {
            lookups_.erase({number, publisher});
            return log_error("PMIx_Get", found->status);
        }
        const ucs_status_t status = copy_block(found->block, into, bytes);
        if (status == UCS_OK) lookups_.erase({number, publisher});
        return status;
    }

    ucs_status_t drop(std::uint64_t number) override {
        own_.drop(number);
        std::erase_if(lookups_, [&](const auto& each) { return each.first.first == number; });
        return UCS_OK;
    }

    [[nodiscard]] std::string key_of(std::uint64_t number) const {
        return fmt::format("hawser.published.{}.{}", instance_, number);
    }

    ucs_status_t request_block(std::uint64_t number, rank_t publisher,
                               std::shared_ptr<lookup>& result) {
        result = std::make_shared<lookup>();
        auto request = std::make_unique<std::shared_ptr<lookup>>(result);
        const pmix_proc_t peer = launcher_.peer(publisher);
        const std::string key = key_of(number);
        const pmix_status_t status =
            launcher_.library().get(&peer, key.c_str(), nullptr, 0, lookup_arrived, request.get());
        if (status != PMIX_SUCCESS) return log_error("PMIx_Get", status);
        static_cast<void>(request.release());  // the callback frees it
        return UCS_OK;
    }

    ucs_status_t log_error(const char* call, pmix_status_t status) {
        ucs::log::error(oob_log, "round {}: {}: {}", current().number, call,
                        launcher_.library().error_string(status));
        return status_of(status);
    }

    void finish(ucs_status_t) noexcept override {
        if (is_fencing_ && !state_->fence_ended.load(std::memory_order_acquire))
            session::mark_abandoned();
        is_fencing_ = false;
        if (state_ != nullptr) {
            // A block may contain a random job key.
            const std::lock_guard guard(state_->lock);
            for (std::vector<std::byte>& each : state_->blocks)
                ucs::security::erase(each);
        }
        state_.reset();
    }

    const session& launcher_;
    const unsigned instance_;
    std::string key_;
    std::shared_ptr<block_replies> state_;
    own_blocks own_;  // used if there is one rank
    std::map<std::pair<std::uint64_t, rank_t>, std::shared_ptr<lookup>> lookups_;
    rank_t requested_ = 0;
    bool is_fencing_ = false;
    bool is_past_deadline_ = false;
    ucs::time::nanoseconds reply_deadline_ = 0;
};

}  // namespace

ucs::result<std::unique_ptr<exchange>> make_pmix(double timeout) {
    static std::atomic<unsigned> instances{0};
    const auto launcher = session::get();
    if (!launcher) return launcher.status();
    if (session::has_abandoned()) return refuse_after_abandoned();
    rank_params self{(*launcher)->rank(), (*launcher)->size(), 0};
    if (const ucs_status_t status = self.check("ucg_oob_create_pmix", timeout); status != UCS_OK)
        return status;
    return std::unique_ptr<exchange>(
        std::make_unique<pmix>(self, **launcher, instances.fetch_add(1)));
}

}  // namespace ucg::oob
