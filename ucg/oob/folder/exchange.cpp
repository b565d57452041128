#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ucg/oob/factories.hpp"
#include "ucg/oob/folder/job_folder.hpp"
#include "ucg/oob/log.hpp"
#include "ucg/oob/tcp/wire.hpp"
#include "ucs/sys/process.hpp"

namespace ucg::oob {
namespace {

constexpr ucs::time::nanoseconds min_backoff = ucs::time::millisecond;
constexpr ucs::time::nanoseconds max_backoff = 100 * ucs::time::millisecond;
constexpr ucs::time::nanoseconds check_interval = 200 * ucs::time::millisecond;
// Limits the ranks that one call checks, so that a call is short.
constexpr std::size_t max_checks = 256;
constexpr const char* failed_file = "failed";

std::string block_file(std::uint64_t round, rank_t rank) {
    return fmt::format("round.{}.{}", round, rank);
}

std::string published_file(std::uint64_t number, rank_t rank) {
    return fmt::format("published.{}.{}", number, rank);
}

// A rank that has ended a round knows that all ranks have begun it, and therefore ended the round
// before. So it removes its own file of that earlier round. The last rank to leave removes the
// files of the last rounds. Owner context.
class directory final : public exchange {
public:
    directory(const rank_params& self, job_folder folder, std::uint64_t job)
        : exchange(self), folder_(std::move(folder)), job_(job) {
        take_ownership();  // the folder names this process as the rank
    }
    ~directory() override {
        if (!is_copy()) folder_.leave(rank(), size());
    }
    // Other users have no access to the folder and its files.
    bool is_private() const noexcept override { return true; }

private:
    ucs_status_t start() override {
        if (current().number >= 2) folder_.remove(block_file(current().number - 2, rank()));
        missing_.clear();
        for (rank_t peer = 0; peer < size(); ++peer)
            if (peer != rank()) missing_.push_back(peer);
        backoff_ = min_backoff;
        next_collect_ = 0;
        next_ = next_to_check_ = 0;
        wire::header_bytes head;
        wire::pack(
            {wire::frame_kind::block, rank(), size(), job_, current().number, current().bytes},
            head);
        return folder_.write(block_file(current().number, rank()), rank(), head, block(rank()));
    }

    ucs_status_t advance() override {
        const auto time = ucs::time::now();
        if (time < next_collect_) return UCS_INPROGRESS;
        const std::size_t before = missing_.size();
        if (const ucs_status_t status = collect_blocks(); status != UCS_OK) return status;
        if (missing_.empty()) return UCS_OK;
        backoff_ = missing_.size() < before ? min_backoff : std::min(2 * backoff_, max_backoff);
        next_collect_ = time + backoff_;
        if (time >= next_peer_check_ || is_late()) {
            next_peer_check_ = time + check_interval;
            if (const ucs_status_t status = check_peers(); status != UCS_OK) return status;
        }
        if (missing_.empty()) return UCS_OK;
        return is_late() ? fail_timed_out() : UCS_INPROGRESS;
    }

    // The file stays until the last rank leaves, because other ranks may look it up.
    ucs_status_t put(std::uint64_t number, std::span<const std::byte> block) override {
        wire::header_bytes head;
        wire::pack({wire::frame_kind::published, rank(), size(), job_, number, block.size()}, head);
        return folder_.write(published_file(number, rank()), rank(), head, block);
    }

    // The file existed before the following round ended, but a network file system may show it
    // late.
    ucs_status_t find(std::uint64_t number, rank_t publisher, std::span<std::byte> into,
                      std::size_t& bytes) override {
        const auto time = ucs::time::now();
        if (time < next_find_) return UCS_INPROGRESS;
        const std::string name = published_file(number, publisher);
        wire::header_bytes head_bytes;
        const auto count = folder_.read(name, head_bytes, into);
        if (!count) return count.status();
        next_find_ = time + min_backoff;
        if (*count < head_bytes.size()) return UCS_INPROGRESS;
        const auto head = wire::parse(head_bytes);
        if (!head || head->kind != wire::frame_kind::published || head->from != publisher ||
            head->ranks != size() || head->job != job_ || head->round != number) {
            ucs::log::error(oob_log, "{}/{} is not what rank {} of {} writes", folder_.path(), name,
                            publisher, size());
            return UCS_ERR_INVALID_PARAM;
        }
        const std::size_t capacity = into.size();
        bytes = static_cast<std::size_t>(head->content);
        if (bytes <= capacity && *count != head_bytes.size() + bytes) return UCS_INPROGRESS;
        next_find_ = 0;
        return bytes <= capacity ? UCS_OK : UCS_ERR_BUFFER_TOO_SMALL;
    }

    void finish(ucs_status_t status) noexcept override {
        if (status == UCS_OK || is_failure_known_) return;
        // To the other ranks, a cancelled round looks like a rank that left.
        const rank_t me = rank();
        write_failure(status == UCS_ERR_CANCELED ? UCS_ERR_CONNECTION_RESET : status, {&me, 1});
    }

    // Reads the blocks of some missing ranks, if they have arrived.
    ucs_status_t collect_blocks() {
        for (std::size_t i = std::min(max_checks, missing_.size()); i != 0; --i) {
            if (next_ >= missing_.size()) next_ = 0;
            const ucs_status_t status = read_block(missing_[next_]);
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

    // UCS_INPROGRESS: the block has not arrived.
    ucs_status_t read_block(rank_t peer) {
        const std::string name = block_file(current().number, peer);
        wire::header_bytes bytes;
        const auto count = folder_.read(name, bytes, block(peer));
        if (!count) return count.status();
        if (*count < bytes.size()) return UCS_INPROGRESS;
        const auto head = wire::parse(bytes);
        if (!head || head->kind != wire::frame_kind::block || head->from != peer ||
            head->ranks != size() || head->job != job_ || head->round != current().number) {
            ucs::log::error(oob_log, "{}/{} is not what rank {} of {} writes", folder_.path(), name,
                            peer, size());
            return fail_on(UCS_ERR_INVALID_PARAM, peer);
        }
        if (head->content != current().bytes)
            return fail_on(log_size_mismatch(peer, head->content), peer);
        // The writer renames complete files only, so the rest is not visible yet.
        return *count == bytes.size() + current().bytes ? UCS_OK : UCS_INPROGRESS;
    }

    // Fails if another rank has reported a failure, or if a missing rank died or left.
    ucs_status_t check_peers() {
        std::array<std::byte, wire::failure::max_bytes> bytes;
        const auto count = folder_.read(failed_file, bytes);
        if (!count) return count.status();
        if (const auto why = wire::parse_failure(std::span(bytes).first(*count), size())) {
            is_failure_known_ = true;
            return log_reported_failure("another rank", *why);
        }
        for (std::size_t i = std::min(max_checks, missing_.size()); i != 0; --i) {
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

    // UCS_INPROGRESS: the rank may still write its block. UCS_OK: its block was read, although the
    // rank is gone.
    ucs_status_t check(rank_t peer) {
        const auto presence = folder_.presence_of(peer);
        if (!presence) return presence.status();
        const bool left = *presence == job_folder::presence::left;
        if (!left && *presence != job_folder::presence::dead) return UCS_INPROGRESS;
        // A block that the rank wrote before it died or left is valid.
        const ucs_status_t status = read_block(peer);
        if (status != UCS_INPROGRESS) return status;
        ucs::log::error(oob_log, "round {}: rank {} {}", current().number, peer,
                        left ? "left" : "died");
        return fail_on(UCS_ERR_CONNECTION_RESET, peer);
    }

    ucs_status_t fail_timed_out() {
        std::vector<rank_t> absent;
        for (const rank_t peer : missing_) {
            const auto presence = folder_.presence_of(peer);
            if (presence && *presence == job_folder::presence::absent) absent.push_back(peer);
        }
        write_failure(UCS_ERR_TIMED_OUT, missing_);
        return log_timeout(missing_, absent, "take part", folder_.path());
    }

    ucs_status_t fail_on(ucs_status_t status, rank_t culprit) noexcept {
        write_failure(status, {&culprit, 1});
        return status;
    }

    void write_failure(ucs_status_t status, std::span<const rank_t> culprits) noexcept {
        is_failure_known_ = true;
        try {
            std::array<std::byte, wire::failure::max_bytes> bytes;
            const std::size_t count = wire::pack(wire::make_failure(status, culprits), bytes);
            static_cast<void>(folder_.write(failed_file, rank(), std::span(bytes).first(count)));
        } catch (const std::bad_alloc&) {  // the other ranks then detect the failure themselves
        }
    }

    const job_folder folder_;
    const std::uint64_t job_;
    std::vector<rank_t> missing_;
    std::size_t next_ = 0;           // index into missing_: the next block to read
    std::size_t next_to_check_ = 0;  // index into missing_: the next rank to check
    bool is_failure_known_ = false;
    ucs::time::nanoseconds next_find_ = 0;  // when to look again for a published block
    ucs::time::nanoseconds backoff_ = min_backoff;
    ucs::time::nanoseconds next_collect_ = 0;
    ucs::time::nanoseconds next_peer_check_ = 0;
};

}  // namespace

ucs::result<std::unique_ptr<exchange>> make_directory(const rank_params& self,
                                                      std::string_view path, std::string_view job) {
    auto folder = job_folder::open(path, job);
    if (!folder) return folder.status();
    if (const ucs_status_t status = folder->enter(self.rank); status != UCS_OK) return status;
    return std::unique_ptr<exchange>(
        std::make_unique<directory>(self, std::move(*folder), ucs::sys::hash_text(job)));
}

}  // namespace ucg::oob
