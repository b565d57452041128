// What the groups of a process share: options, the worker, the turn of progress.
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
#include "ucg/net/news.hpp"
#include "ucg/node/early_limit.hpp"
#include "ucg/select/selector.hpp"
#include "ucs/sys/lock.hpp"
#include "ucs/type/result.hpp"

namespace ucg {

class group;

// Owned by the program. Owner context; in thread mode MULTI under lock().
class context {
public:
    // What is in `params` was checked.
    static ucs::result<std::unique_ptr<context>> make(const ucg_context_params_t& params);
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context();

    [[nodiscard]] const config& options() const noexcept { return options_; }
    [[nodiscard]] const select::selector& selector() const noexcept { return selector_; }
    [[nodiscard]] ucs::sys::optional_lock& lock() noexcept { return lock_; }
    [[nodiscard]] group_ids& ids() noexcept { return ids_; }

    // Sizes that algorithms go by, as the user set them.
    [[nodiscard]] schedule::tuning sizes() const noexcept;

    // Which node this process is on; equal for all of a node.
    [[nodiscard]] std::uint64_t node() const noexcept { return node_; }
    // Which NUMA node of it this process is bound to, or node::domains::unknown.
    [[nodiscard]] std::uint32_t numa() const noexcept { return numa_; }

    // Whether nothing can come from a network.
    [[nodiscard]] bool is_local() const noexcept { return worker_ == nullptr; }

    // The worker, made at the first call if the program gave none.
    [[nodiscard]] ucs::result<ucp_worker_h> worker() noexcept;
    [[nodiscard]] ucs::result<std::vector<std::byte>> address();

    // Makes what this rank tells others about its job key. A rank that `proposes` makes one up if
    // it has none; the key itself is in it only if the exchange is private.
    [[nodiscard]] key_offer offer_key(bool is_private, bool proposes) const noexcept;
    // The worker is to be made with this key; before there is one.
    void adopt(const random_job_key& key) noexcept { job_key_ = key; }
    [[nodiscard]] const std::optional<random_job_key>& job_key() const noexcept { return job_key_; }
    [[nodiscard]] net::news& told() noexcept { return told_; }
    [[nodiscard]] node::early_limit& early_messages() noexcept { return early_messages_; }

    void add(group& which) { groups_.push_back(&which); }
    void remove(group& which) noexcept { std::erase(groups_, &which); }
    // Closes a book of which no group is left: progress() serves it until it is closed.
    void serve(std::shared_ptr<net::address_book> left) noexcept;
    [[nodiscard]] bool has_groups() const noexcept { return !groups_.empty(); }

    // Everything once. How much happened.
    unsigned progress() noexcept;

private:
    context(config options, select::selector chooses, const ucg_context_params_t& params,
            bool is_key_fixed);
    [[nodiscard]] ucs_status_t make_worker() noexcept;
    [[nodiscard]] ucs_status_t open_ucp() noexcept;
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
    net::news told_;
    node::early_limit early_messages_;  // of all groups on this node
    std::vector<group*> groups_;
    std::vector<std::shared_ptr<net::address_book>> left_;
    unsigned looks_ = 0;
};

}  // namespace ucg
