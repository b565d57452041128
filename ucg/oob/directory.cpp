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
// Files of ranks looked for in one call, so that a call is short.
constexpr std::size_t most_looks = 256;
constexpr const char* failed_file = "failed";

std::string block_file(std::uint64_t round, rank_t rank) {
    return fmt::format("round.{}.{}", round, rank);
}

std::string published_file(std::uint64_t number, rank_t rank) {
    return fmt::format("published.{}.{}", number, rank);
}

// A rank that has ended a round knows that all have begun it, and so ended the one before: its own
// file of that one can go. Those of the last rounds go when the last rank leaves. Owner context.
class directory final : public exchange {
public:
    directory(const membership& who, job_folder folder, std::uint64_t job)
        : exchange(who), folder_(std::move(folder)), job_(job) {
        own();  // the others see which process has come
    }
    ~directory() override {
        if (!is_copy()) folder_.leave(rank(), size());
    }
    // The folder and its files are closed to other users.
    bool is_private() const noexcept override { return true; }

private:
    ucs_status_t start() override {
        if (now().number >= 2) folder_.remove(block_file(now().number - 2, rank()));
        missing_.clear();
        for (rank_t of = 0; of < size(); ++of)
            if (of != rank()) missing_.push_back(of);
        rest_ = shortest_rest;
        next_look_ = 0;
        next_ = next_to_check_ = 0;
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

    // It stays until the last rank leaves: others may look for it.
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> mine) override {
        wire::header_bytes head;
        wire::pack({wire::kind::published, rank(), size(), job_, number, mine.size()}, head);
        return folder_.write(published_file(number, rank()), rank(), head, mine);
    }

    // It was there before the round that followed was over; but a network's file system may show it
    // late.
    ucs_status_t find(std::uint64_t number, rank_t of, std::span<std::byte> into,
                      std::size_t& bytes) override {
        const auto time = ucs::time::now();
        if (time < next_find_) return UCS_INPROGRESS;
        const std::string name = published_file(number, of);
        wire::header_bytes head_bytes;
        const auto count = folder_.read(name, head_bytes, into);
        if (!count) return count.status();
        next_find_ = time + shortest_rest;
        if (*count < head_bytes.size()) return UCS_INPROGRESS;
        const auto head = wire::parse(head_bytes);
        if (!head || head->what != wire::kind::published || head->from != of ||
            head->ranks != size() || head->job != job_ || head->round != number) {
            ucs::log::error(oob_log, "{}/{} is not what rank {} of {} writes", folder_.path(), name,
                            of, size());
            return UCS_ERR_INVALID_PARAM;
        }
        const std::size_t room = into.size();
        bytes = static_cast<std::size_t>(head->content);
        if (bytes <= room && *count != head_bytes.size() + bytes) return UCS_INPROGRESS;
        next_find_ = 0;
        return bytes <= room ? UCS_OK : UCS_ERR_BUFFER_TOO_SMALL;
    }

    void finish(ucs_status_t why) noexcept override {
        if (why == UCS_OK || is_told_) return;
        // Giving up is as leaving to the others.
        const rank_t me = rank();
        tell(why == UCS_ERR_CANCELED ? UCS_ERR_CONNECTION_RESET : why, {&me, 1});
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
        const std::string name = block_file(now().number, from);
        wire::header_bytes bytes;
        const auto count = folder_.read(name, bytes, block(from));
        if (!count) return count.status();
        if (*count < bytes.size()) return UCS_INPROGRESS;
        const auto head = wire::parse(bytes);
        if (!head || head->what != wire::kind::block || head->from != from ||
            head->ranks != size() || head->job != job_ || head->round != now().number) {
            ucs::log::error(oob_log, "{}/{} is not what rank {} of {} writes", folder_.path(), name,
                            from, size());
            return blame(UCS_ERR_INVALID_PARAM, from);
        }
        if (head->content != now().bytes) return blame(differs(from, head->content), from);
        // It appeared whole, so the rest is only not seen yet.
        return *count == bytes.size() + now().bytes ? UCS_OK : UCS_INPROGRESS;
    }

    // Is there still hope?
    ucs_status_t patrol() {
        std::array<std::byte, wire::failure::most_bytes> bytes;
        const auto count = folder_.read(failed_file, bytes);
        if (!count) return count.status();
        if (const auto why = wire::parse_failure(std::span(bytes).first(*count), size())) {
            is_told_ = true;
            return told("another rank", *why);
        }
        for (std::size_t i = std::min(most_looks, missing_.size()); i != 0; --i) {
            if (next_to_check_ >= missing_.size()) next_to_check_ = 0;
            const ucs_status_t status = check(missing_[next_to_check_]);
            if (status == UCS_INPROGRESS)
                ++next_to_check_;
            else if (status == UCS_OK)
                missing_.erase(missing_.begin() + static_cast<std::ptrdiff_t>(next_to_check_));
            else
                return status;
        }
        return UCS_OK;
    }

    // UCS_INPROGRESS: it may still give its block; UCS_OK: it has, and was there no longer.
    ucs_status_t check(rank_t who) {
        const auto presence = folder_.look_for(who);
        if (!presence) return presence.status();
        const bool left = *presence == job_folder::presence::left;
        if (!left && *presence != job_folder::presence::dead) return UCS_INPROGRESS;
        // What it gave before it went away counts.
        const ucs_status_t status = take(who);
        if (status != UCS_INPROGRESS) return status;
        ucs::log::error(oob_log, "round {}: rank {} {}", now().number, who, left ? "left" : "died");
        return blame(UCS_ERR_CONNECTION_RESET, who);
    }

    ucs_status_t too_late() {
        std::vector<rank_t> absent;
        for (const rank_t who : missing_) {
            const auto presence = folder_.look_for(who);
            if (presence && *presence == job_folder::presence::absent) absent.push_back(who);
        }
        tell(UCS_ERR_TIMED_OUT, missing_);
        return late(missing_, absent, "take part", folder_.path());
    }

    ucs_status_t blame(ucs_status_t why, rank_t culprit) noexcept {
        tell(why, {&culprit, 1});
        return why;
    }

    void tell(ucs_status_t why, std::span<const rank_t> culprits) noexcept {
        is_told_ = true;
        try {
            std::array<std::byte, wire::failure::most_bytes> bytes;
            const std::size_t count = wire::pack(wire::blame(why, culprits), bytes);
            static_cast<void>(folder_.write(failed_file, rank(), std::span(bytes).first(count)));
        } catch (const std::bad_alloc&) {  // then they find out by themselves
        }
    }

    const job_folder folder_;
    const std::uint64_t job_;
    std::vector<rank_t> missing_;
    std::size_t next_ = 0;           // of them, to look for its block
    std::size_t next_to_check_ = 0;  // to see whether it lives
    bool is_told_ = false;
    ucs::time::nanoseconds next_find_ = 0;  // where a published block was not there
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
