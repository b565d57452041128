// State that the groups of a process share: options, the worker, the turn of progress.
#pragma once

#include <ucg/api/ucg.h>
#include <ucp/api/ucp.h>

#include <memory>
#include <optional>
#include <vector>

#include "ucg/core/config.hpp"
#include "ucg/core/group_ids.hpp"
#include "ucg/core/job_key.hpp"
#include "ucg/net/address_book.hpp"
#include "ucg/net/control_messages.hpp"
#include "ucg/node/rings/early_limit.hpp"
#include "ucg/select/selector.hpp"
#include "ucs/sys/lock.hpp"
#include "ucs/type/result.hpp"

namespace ucg {

class group;

// Owned by the program. Owner context; in thread mode MULTI under lock().
class context {
public:
    // Precondition: `params` was checked.
    static ucs::result<std::unique_ptr<context>> make(const ucg_context_params_t& params);
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context();

    [[nodiscard]] const config& options() const noexcept { return options_; }
    [[nodiscard]] const select::selector& selector() const noexcept { return selector_; }
    [[nodiscard]] ucs::sys::optional_lock& lock() noexcept { return lock_; }
    [[nodiscard]] group_ids& ids() noexcept { return ids_; }

    // Returns the number of this process's node; equal for all processes of a node.
    [[nodiscard]] std::uint64_t node() const noexcept { return node_; }
    // Returns the number of the NUMA node to which this process is bound, or
    // node::numa_domains::unknown.
    [[nodiscard]] std::uint32_t numa() const noexcept { return numa_; }

    // Returns whether no messages can come from a network.
    [[nodiscard]] bool is_local() const noexcept { return worker_ == nullptr; }

    // Returns the worker. The first call makes it if the program gave none.
    [[nodiscard]] ucs::result<ucp_worker_h> worker();
    [[nodiscard]] ucs::result<std::vector<std::byte>> address();

    // Makes this rank's offer of a job key. A rank that `proposes` makes a key up if it has none.
    // The offer contains the key itself only if the exchange is private.
    [[nodiscard]] key_offer offer_key(bool is_private, bool proposes) const noexcept;
    // Sets the job key for the worker. Must be called before the worker is made.
    void adopt(const random_job_key& key) noexcept { job_key_ = key; }
    [[nodiscard]] const std::optional<random_job_key>& job_key() const noexcept { return job_key_; }
    [[nodiscard]] net::control_messages& control_messages() noexcept { return control_messages_; }
    [[nodiscard]] node::early_limit& early_messages() noexcept { return early_messages_; }

    void add(group& which) { groups_.push_back(&which); }
    void remove(group& which) noexcept { std::erase(groups_, &which); }
    // Takes over a book that no group uses any more. progress() serves it until it is closed.
    void serve(std::shared_ptr<net::address_book> left) noexcept;
    [[nodiscard]] bool has_groups() const noexcept { return !groups_.empty(); }

    // Makes progress on everything once. Returns how much happened.
    unsigned progress() noexcept;

private:
    context(config options, select::selector chooses, const ucg_context_params_t& params,
            bool is_key_fixed);
    [[nodiscard]] ucs_status_t make_worker();
    [[nodiscard]] ucs_status_t open_ucp();
    void close_books() noexcept;

    const config options_;
    const select::selector selector_;
    ucs::sys::optional_lock lock_;
    const ucs_thread_mode_t thread_mode_;
    const std::uint64_t node_;
    const std::uint32_t numa_;
    group_ids ids_;
    const bool is_key_fixed_;                // by the user or the program
    std::optional<random_job_key> job_key_;  // of the own worker
    ucp_context_h ucp_ = nullptr;            // of the own worker
    ucp_worker_h worker_ = nullptr;
    bool listens_ = false;
    net::control_messages control_messages_;
    node::early_limit early_messages_;  // of all groups on this node
    std::vector<group*> groups_;
    std::vector<std::shared_ptr<net::address_book>> left_;
    unsigned looks_ = 0;
};

}  // namespace ucg
