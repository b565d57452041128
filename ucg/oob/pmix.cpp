#include "ucg/oob/pmix.hpp"

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

#include "ucg/oob/log.hpp"
#include "ucg/oob/own_blocks.hpp"
#include "ucg/oob/pmix_library.hpp"
#include "ucs/security/key.hpp"

namespace ucg::oob {
namespace {

// Questions for blocks that are asked in one call, so that a call is short.
constexpr rank_t most_questions = 128;
// For the server to say which ranks have come, after the time for the round is over.
constexpr ucs::time::nanoseconds time_to_answer = 2 * ucs::time::second;

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

// What the library's thread writes; it may do so after the round was given up. Shared with the
// answers under way.
struct answers {
    explicit answers(rank_t size) : blocks(size), came(size) {}

    std::atomic<bool> fence_ended{false};
    std::atomic<pmix_status_t> fence_status{PMIX_SUCCESS};
    std::mutex lock;
    // Of the rest:
    std::vector<std::vector<std::byte>> blocks;
    std::vector<bool> came;
    rank_t count = 0;
    pmix_status_t trouble = PMIX_SUCCESS;
};

// A block that is looked up; the library's thread writes it, perhaps when nobody wants it any more.
struct wanted {
    std::mutex lock;
    bool is_here = false;
    pmix_status_t status = PMIX_SUCCESS;
    std::vector<std::byte> block;
};

void wanted_came(pmix_status_t status, pmix_value_t* value, void* arg) {
    const std::unique_ptr<std::shared_ptr<wanted>> asked(
        static_cast<std::shared_ptr<wanted>*>(arg));
    wanted& into = **asked;
    const std::lock_guard guard(into.lock);
    if (status == PMIX_SUCCESS && (value == nullptr || value->type != PMIX_BYTE_OBJECT))
        status = PMIX_ERR_NOT_FOUND;
    if (status == PMIX_SUCCESS) {
        const auto* const from = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
        try {
            into.block.assign(from, from + value->data.bo.size);
        } catch (const std::bad_alloc&) {
            status = PMIX_ERR_NOMEM;
        }
    }
    into.status = status;
    into.is_here = true;
}

struct question {
    std::shared_ptr<answers> into;
    rank_t about = 0;
};

void fence_ended(pmix_status_t status, void* arg) {
    const std::unique_ptr<question> asked(static_cast<question*>(arg));
    asked->into->fence_status.store(status, std::memory_order_relaxed);
    asked->into->fence_ended.store(true, std::memory_order_release);
}

void block_came(pmix_status_t status, pmix_value_t* value, void* arg) {
    const std::unique_ptr<question> asked(static_cast<question*>(arg));
    answers& into = *asked->into;
    const std::lock_guard guard(into.lock);
    if (status == PMIX_SUCCESS && (value == nullptr || value->type != PMIX_BYTE_OBJECT))
        status = PMIX_ERR_NOT_FOUND;
    if (status == PMIX_SUCCESS) {
        const auto& bytes = value->data.bo;
        const auto* const from = reinterpret_cast<const std::byte*>(bytes.bytes);
        try {
            into.blocks[asked->about].assign(from, from + bytes.size);
            into.came[asked->about] = true;
        } catch (const std::bad_alloc&) {
            status = PMIX_ERR_NOMEM;
        }
    }
    if (status != PMIX_SUCCESS) into.trouble = status;
    ++into.count;
}

// The number of the first version in a text such as "OpenPMIx 4.2.2, repo rev: ..."; 0: none.
unsigned major_version(const char* text) noexcept {
    if (text == nullptr) return 0;
    const char* const digits = text + std::strcspn(text, "0123456789");
    return static_cast<unsigned>(std::strtoul(digits, nullptr, 10));
}

// The way in which libpmix 4 packs the message of PMIx_Init is not what servers of version 5 expect
// of it: they print PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER for each process, and go on. Both know
// the packing of version 3. This asks for it during PMIx_Init, unless the user asks for another
// one.
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

// This process as the launcher knows it: from the first object until the process ends, because
// libpmix 4 hangs when it is begun again after its end, and launchers take a process that ends
// without that for a failed one.
class session {
public:
    // UCS_ERR_UNSUPPORTED, UCS_ERR_UNREACHABLE, with a line in the log.
    static ucs::result<const session*> get() {
        static std::mutex lock;
        static std::unique_ptr<session> only;
        const std::lock_guard guard(lock);
        if (!only) {
            auto opened = open();
            if (!opened) return opened.status();
            only = std::move(*opened);
        }
        if (only->known_ != UCS_OK) return only->known_;
        if (only->process_ == ::getpid()) return only.get();
        ucs::log::error(oob_log, "PMIx knows the parent of this process, not this process itself");
        return UCS_ERR_UNREACHABLE;
    }

    ~session() {
        if (is_open_ && process_ == ::getpid()) static_cast<void>(library_.finalize(nullptr, 0));
    }

    // A fence that was given up still waits for the others, who would take the next one for it.
    static void spoil() noexcept { spoiled_.store(true, std::memory_order_relaxed); }
    static bool is_spoiled() noexcept { return spoiled_.load(std::memory_order_relaxed); }

    [[nodiscard]] const pmix_library& library() const noexcept { return library_; }
    [[nodiscard]] rank_t rank() const noexcept { return me_.rank; }
    [[nodiscard]] rank_t size() const noexcept { return size_; }
    [[nodiscard]] pmix_proc_t peer(rank_t rank) const noexcept {
        pmix_proc_t who = me_;
        who.rank = rank;
        return who;
    }

private:
    explicit session(const pmix_library& library) noexcept : library_(library) {}

    static ucs::result<std::unique_ptr<session>> open() {
        std::string why_not;
        const pmix_library* const library = pmix_library::load(why_not);
        if (library == nullptr) {
            ucs::log::error(oob_log,
                            "PMIx is wanted and cannot be used: {}; install it, or choose another "
                            "way by UCG_OOB=tcp or directory",
                            why_not);
            return UCS_ERR_UNSUPPORTED;
        }
        auto made = std::unique_ptr<session>(new session(*library));
        const pmix_status_t status = [&] {
            const packing_for_newer_server packing(*library);
            return library->init(&made->me_, nullptr, 0);
        }();
        if (status != PMIX_SUCCESS) {
            ucs::log::error(oob_log,
                            "PMIx_Init: {}; start the program by a launcher with PMIx (mpirun, "
                            "prterun, srun --mpi=pmix)",
                            library->error_string(status));
            return UCS_ERR_UNREACHABLE;
        }
        made->is_open_ = true;
        // Also where it does not: see above.
        made->known_ = made->learn_size();
        return made;
    }

    ucs_status_t learn_size() {
        const pmix_proc_t all = peer(PMIX_RANK_WILDCARD);
        pmix_value_t* value = nullptr;
        const pmix_status_t status = library_.get_now(&all, PMIX_JOB_SIZE, nullptr, 0, &value);
        if (status == PMIX_SUCCESS && value != nullptr) {
            if (value->type == PMIX_UINT32) size_ = value->data.uint32;
            library_.destruct_value(value);
            std::free(value);
        }
        if (size_ != 0 && me_.rank < size_) return UCS_OK;
        ucs::log::error(oob_log, "PMIx does not say how many ranks this job has: {}",
                        library_.error_string(status));
        return UCS_ERR_UNREACHABLE;
    }

    const pmix_library& library_;
    const pid_t process_ = ::getpid();
    pmix_proc_t me_{};
    rank_t size_ = 0;
    bool is_open_ = false;
    ucs_status_t known_ = UCS_OK;  // whether it says who we are
    static inline std::atomic<bool> spoiled_{false};
};

ucs_status_t refuse_after_abandoned() noexcept {
    ucs::log::error(oob_log,
                    "a round over PMIx did not end in this process: no other one can follow it; "
                    "start the job again, or choose another way by UCG_OOB=tcp or directory");
    return UCS_ERR_CANCELED;
}

// Each rank gives its block to its server; a fence collects them on all. Owner context.
class pmix final : public exchange {
public:
    pmix(const membership& who, const session& launcher, unsigned instance) noexcept
        : exchange(who), launcher_(launcher), instance_(instance) {
        own();  // the launcher knows which process this is
    }
    // The launcher's servers know the user of each process, and tell nothing to others.
    bool is_private() const noexcept override { return true; }

private:
    ucs_status_t start() override {
        if (size() == 1) return UCS_OK;  // the round ends here, and a fence would not yet
        if (session::is_spoiled()) return refuse_after_abandoned();
        // An own block is there always: it says that this rank has come.
        key_ = fmt::format("hawser.oob.{}.{}", instance_, now().number);
        state_ = std::make_shared<answers>(size());
        asked_ = 0;
        is_asking_who_ = false;
        const auto mine = block(rank());
        char none = 0;
        pmix_value_t value{};
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo.bytes = mine.empty() ? &none : reinterpret_cast<char*>(mine.data());
        value.data.bo.size = std::max<std::size_t>(mine.size(), 1);
        pmix_status_t status = launcher_.library().put(PMIX_GLOBAL, key_.c_str(), &value);
        if (status != PMIX_SUCCESS) return cannot("PMIx_Put", status);
        status = launcher_.library().commit();
        if (status != PMIX_SUCCESS) return cannot("PMIx_Commit", status);
        return begin_fence();
    }

    ucs_status_t begin_fence() {
        auto asked = std::make_unique<question>(question{state_});
        const pmix_status_t status =
            launcher_.library().fence(nullptr, 0, &collect(), 1, fence_ended, asked.get());
        if (status == PMIX_SUCCESS) {
            static_cast<void>(asked.release());  // the answer frees it
            is_fencing_ = true;
            return UCS_OK;
        }
        if (status != PMIX_OPERATION_SUCCEEDED) return cannot("PMIx_Fence", status);
        state_->fence_ended = true;
        return UCS_OK;
    }

    // Lives as long as the fence.
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
        if (is_asking_who_) return tell_missing();
        if (!state_->fence_ended.load(std::memory_order_acquire)) {
            if (!is_late()) return UCS_INPROGRESS;
            is_asking_who_ = true;
            answer_until_ = ucs::time::now() + time_to_answer;
            return tell_missing();
        }
        const pmix_status_t status = state_->fence_status.load(std::memory_order_relaxed);
        if (status_of(status) != UCS_OK) return cannot("PMIx_Fence", status);
        if (const ucs_status_t asked = ask(); asked != UCS_OK) return asked;
        return take();
    }

    ucs_status_t ask() {
        const rank_t end = asked_ + std::min(most_questions, size() - asked_);
        for (; asked_ < end; ++asked_) {
            auto asked = std::make_unique<question>(question{state_, asked_});
            const pmix_proc_t who = launcher_.peer(asked_);
            const pmix_status_t status =
                launcher_.library().get(&who, key_.c_str(), nullptr, 0, block_came, asked.get());
            if (status != PMIX_SUCCESS) return cannot("PMIx_Get", status);
            static_cast<void>(asked.release());
        }
        return UCS_OK;
    }

    ucs_status_t take() {
        const std::lock_guard guard(state_->lock);
        if (state_->trouble != PMIX_SUCCESS) return cannot("PMIx_Get", state_->trouble);
        if (state_->count < size()) return is_late() ? late_answers() : UCS_INPROGRESS;
        for (rank_t from = 0; from < size(); ++from) {
            const auto& came = state_->blocks[from];
            if (came.size() != std::max<std::size_t>(now().bytes, 1))
                return differs(from, came.size());
            if (now().bytes != 0) std::memcpy(block(from).data(), came.data(), came.size());
        }
        return UCS_OK;
    }

    // The fence has not ended: whose blocks are there?
    ucs_status_t tell_missing() {
        if (const ucs_status_t asked = ask(); asked != UCS_OK) return asked;
        const std::lock_guard guard(state_->lock);
        if (state_->count < size() && ucs::time::now() < answer_until_) return UCS_INPROGRESS;
        return late_answers();
    }

    ucs_status_t late_answers() {
        std::vector<rank_t> missing;
        for (rank_t who = 0; who < size(); ++who)
            if (!state_->came[who]) missing.push_back(who);
        return late(missing, {});
    }

    // The next round commits it, and its fence brings it to the servers of all.
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> mine) override {
        if (size() == 1) {
            own_.put(number, mine);
            return UCS_OK;
        }
        pmix_value_t value{};
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(mine.data()));
        value.data.bo.size = mine.size();
        const std::string key = key_of(number);
        const pmix_status_t status = launcher_.library().put(PMIX_GLOBAL, key.c_str(), &value);
        return status == PMIX_SUCCESS ? UCS_OK : cannot("PMIx_Put", status);
    }

    ucs_status_t find(std::uint64_t number, rank_t of, std::span<std::byte> into,
                      std::size_t& bytes) override {
        if (size() == 1) return hand_over(own_.of(number), into, bytes);
        auto& asked = wanted_[{number, of}];
        if (asked == nullptr) {
            if (const ucs_status_t status = ask_for(number, of, asked); status != UCS_OK) {
                wanted_.erase({number, of});
                return status;
            }
        }
        const std::shared_ptr<wanted> what = asked;
        const std::lock_guard guard(what->lock);
        if (!what->is_here) return UCS_INPROGRESS;
        if (what->status != PMIX_SUCCESS) {
            wanted_.erase({number, of});
            return cannot("PMIx_Get", what->status);
        }
        const ucs_status_t status = hand_over(what->block, into, bytes);
        if (status == UCS_OK) wanted_.erase({number, of});
        return status;
    }

    ucs_status_t drop(std::uint64_t number) override {
        own_.drop(number);
        std::erase_if(wanted_, [&](const auto& each) { return each.first.first == number; });
        return UCS_OK;
    }

    [[nodiscard]] std::string key_of(std::uint64_t number) const {
        return fmt::format("hawser.published.{}.{}", instance_, number);
    }

    ucs_status_t ask_for(std::uint64_t number, rank_t of, std::shared_ptr<wanted>& into) {
        into = std::make_shared<wanted>();
        auto asked = std::make_unique<std::shared_ptr<wanted>>(into);
        const pmix_proc_t who = launcher_.peer(of);
        const std::string key = key_of(number);
        const pmix_status_t status =
            launcher_.library().get(&who, key.c_str(), nullptr, 0, wanted_came, asked.get());
        if (status != PMIX_SUCCESS) return cannot("PMIx_Get", status);
        static_cast<void>(asked.release());  // the answer frees it
        return UCS_OK;
    }

    ucs_status_t cannot(const char* call, pmix_status_t why) {
        ucs::log::error(oob_log, "round {}: {}: {}", now().number, call,
                        launcher_.library().error_string(why));
        return status_of(why);
    }

    void finish(ucs_status_t) noexcept override {
        if (is_fencing_ && !state_->fence_ended.load(std::memory_order_acquire)) session::spoil();
        is_fencing_ = false;
        if (state_ != nullptr) {
            // A block may hold a random job key.
            const std::lock_guard guard(state_->lock);
            for (std::vector<std::byte>& each : state_->blocks)
                ucs::security::erase(each);
        }
        state_.reset();
    }

    const session& launcher_;
    const unsigned instance_;
    std::string key_;
    std::shared_ptr<answers> state_;
    own_blocks own_;  // of one that is alone
    std::map<std::pair<std::uint64_t, rank_t>, std::shared_ptr<wanted>> wanted_;
    rank_t asked_ = 0;
    bool is_fencing_ = false;
    bool is_asking_who_ = false;
    ucs::time::nanoseconds answer_until_ = 0;
};

}  // namespace

ucs::result<std::unique_ptr<exchange>> make_pmix(double timeout) {
    static std::atomic<unsigned> instances{0};
    const auto launcher = session::get();
    if (!launcher) return launcher.status();
    if (session::is_spoiled()) return refuse_after_abandoned();
    membership who{(*launcher)->rank(), (*launcher)->size(), 0};
    if (const ucs_status_t status = who.check("ucg_oob_create_pmix", timeout); status != UCS_OK)
        return status;
    return std::unique_ptr<exchange>(
        std::make_unique<pmix>(who, **launcher, instances.fetch_add(1)));
}

}  // namespace ucg::oob
