#include "ucg/oob/directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ucg/oob/job_folder.hpp"
#include "ucg/oob/log.hpp"
#include "ucg/oob/tcp_wire.hpp"
#include "ucs/sys/process.hpp"

namespace ucg::oob {
namespace {

constexpr ucs::time::nanoseconds shortest_rest = ucs::time::millisecond;
constexpr ucs::time::nanoseconds longest_rest = 100 * ucs::time::millisecond;
constexpr ucs::time::nanoseconds time_between_patrols = 200 * ucs::time::millisecond;
// Files looked for in one call, so that a call is short.
constexpr std::size_t most_looks = 256;
constexpr const char* failed_file = "failed";

std::string block_file(std::uint64_t round, rank_t rank) {
    return fmt::format("round.{}.{}", round, rank);
}

// A rank that has ended a round knows that all have begun it, and so ended the one before: its own
// file of that one can go. Those of the last rounds go when the last rank leaves. Owner context.
class directory final : public exchange {
public:
    directory(const membership& who, job_folder folder, std::uint64_t job)
        : exchange(who), folder_(std::move(folder)), job_(job) {}
    ~directory() override { folder_.leave(rank(), size()); }

private:
    ucs_status_t start() override {
        if (now().number >= 2) folder_.remove(block_file(now().number - 2, rank()));
        missing_.clear();
        for (rank_t of = 0; of < size(); ++of)
            if (of != rank()) missing_.push_back(of);
        rest_ = shortest_rest;
        next_look_ = 0;
        next_ = 0;
        wire::header_bytes head;
        wire::pack({wire::kind::block, rank(), size(), job_, now().number, now().bytes}, head);
        return folder_.write(block_file(now().number, rank()), rank(), head, block(rank()));
    }

    ucs_status_t advance() override {
        const auto time = ucs::time::now();
        if (time < next_look_) return UCS_INPROGRESS;
        const std::size_t before = missing_.size();
        if (const ucs_status_t status = look(); status != UCS_OK) return status;
        if (missing_.empty()) return UCS_OK;
        rest_ = missing_.size() < before ? shortest_rest : std::min(2 * rest_, longest_rest);
        next_look_ = time + rest_;
        if (time >= next_patrol_ || is_late()) {
            next_patrol_ = time + time_between_patrols;
            if (const ucs_status_t status = patrol(); status != UCS_OK) return status;
        }
        if (missing_.empty()) return UCS_OK;
        return is_late() ? too_late() : UCS_INPROGRESS;
    }

    void finish(ucs_status_t why) noexcept override {
        if (why == UCS_OK || is_told_) return;
        const rank_t me = rank();
        tell(why, {&me, 1});
    }

    // Takes what has come of some of those that are missing.
    ucs_status_t look() {
        for (std::size_t i = std::min(most_looks, missing_.size()); i != 0; --i) {
            if (next_ >= missing_.size()) next_ = 0;
            const ucs_status_t status = take(missing_[next_]);
            if (status == UCS_INPROGRESS) {
                ++next_;
            } else if (status == UCS_OK) {
                missing_.erase(missing_.begin() + static_cast<std::ptrdiff_t>(next_));
            } else {
                return status;
            }
        }
        return UCS_OK;
    }

    // UCS_INPROGRESS: not there.
    ucs_status_t take(rank_t from) {
        const ucs::unique_fd file = folder_.find(block_file(now().number, from));
        if (!file) return UCS_INPROGRESS;
        wire::header_bytes bytes;
        // The file of a network's file system may vanish from under us.
        if (!read_all(file.get(), bytes)) return UCS_INPROGRESS;
        const auto head = wire::parse(bytes);
        if (!head || head->what != wire::kind::block || head->from != from ||
            head->ranks != size() || head->job != job_ || head->round != now().number) {
            ucs::log::error(oob_log, "{}/{} is not what rank {} of {} writes", folder_.path(),
                            block_file(now().number, from), from, size());
            return UCS_ERR_INVALID_PARAM;
        }
        if (head->content != now().bytes) {
            ucs::log::error(oob_log, "round {}: rank {} gives {} bytes and rank {} {}",
                            now().number, from, head->content, rank(), now().bytes);
            return UCS_ERR_INVALID_PARAM;
        }
        return read_all(file.get(), block(from)) ? UCS_OK : UCS_INPROGRESS;
    }

    // Is there still hope?
    ucs_status_t patrol() {
        if (const auto bytes = folder_.read(failed_file, wire::failure::most_bytes)) {
            if (const auto why = wire::parse_failure(*bytes, size())) return told(*why);
        }
        for (std::size_t i = 0; i < missing_.size(); ++i) {
            const rank_t who = missing_[i];
            const auto presence = folder_.look_for(who);
            const bool is_gone =
                presence == job_folder::presence::left || presence == job_folder::presence::dead;
            // What it gave before it went away counts.
            if (!is_gone) continue;
            const ucs_status_t status = take(who);
            if (status == UCS_OK)
                missing_.erase(missing_.begin() + static_cast<std::ptrdiff_t>(i--));
            else
                return status == UCS_INPROGRESS ? lost(who, presence) : status;
        }
        return UCS_OK;
    }

    ucs_status_t told(const wire::failure& why) {
        is_told_ = true;
        ucs::log::error(
            oob_log, "round {}: another rank says that {} failed it: {}", now().number,
            why.count == 0 ? "something" : rank_list(why.first, why.count - why.first.size()),
            ucs_status_string(why.why));
        return why.why;
    }

    ucs_status_t lost(rank_t who, job_folder::presence how) {
        ucs::log::error(oob_log, "round {}: rank {} {}", now().number, who,
                        how == job_folder::presence::left ? "left" : "died");
        tell(UCS_ERR_CONNECTION_RESET, {&who, 1});
        return UCS_ERR_CONNECTION_RESET;
    }

    ucs_status_t too_late() {
        std::vector<rank_t> absent;
        for (const rank_t who : missing_)
            if (folder_.look_for(who) == job_folder::presence::absent) absent.push_back(who);
        const bool all = absent.size() == missing_.size();
        ucs::log::error(oob_log, "round {}: {} did not {} within {} s in {}{}{}", now().number,
                        rank_list(missing_), all ? "come" : "take part", timeout_seconds(),
                        folder_.path(), all || absent.empty() ? "" : "; never here: ",
                        all || absent.empty() ? "" : rank_list(absent));
        tell(UCS_ERR_TIMED_OUT, missing_);
        return UCS_ERR_TIMED_OUT;
    }

    void tell(ucs_status_t why, std::span<const rank_t> culprits) noexcept {
        is_told_ = true;
        try {
            wire::failure text{.why = why, .count = static_cast<std::uint32_t>(culprits.size())};
            const std::size_t listed = std::min(culprits.size(), wire::failure::most_listed);
            text.first.assign(culprits.begin(),
                              culprits.begin() + static_cast<std::ptrdiff_t>(listed));
            std::array<std::byte, wire::failure::most_bytes> bytes;
            const std::size_t count = wire::pack(text, bytes);
            static_cast<void>(folder_.write(failed_file, rank(), std::span(bytes).first(count)));
        } catch (const std::bad_alloc&) {  // then they find out by themselves
        }
    }

    const job_folder folder_;
    const std::uint64_t job_;
    std::vector<rank_t> missing_;
    std::size_t next_ = 0;
    bool is_told_ = false;
    ucs::time::nanoseconds rest_ = shortest_rest;
    ucs::time::nanoseconds next_look_ = 0;
    ucs::time::nanoseconds next_patrol_ = 0;
};

}  // namespace

ucs::result<std::unique_ptr<exchange>> make_directory(const membership& who, std::string_view path,
                                                      std::string_view job) {
    auto folder = job_folder::open(path, job);
    if (!folder) return folder.status();
    if (const ucs_status_t status = folder->enter(who.rank); status != UCS_OK) return status;
    return std::unique_ptr<exchange>(
        std::make_unique<directory>(who, std::move(*folder), ucs::sys::hash_text(job)));
}

}  // namespace ucg::oob
