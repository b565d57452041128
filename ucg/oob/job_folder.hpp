// The files of one job.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ucg/oob/rank_list.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"

namespace ucg::oob {

// The folder PATH/ucg-JOB, which only this user may enter, and what a rank does in it:
//
//   here.RANK         made when the rank comes, with where its process is; never made twice
//   left.RANK         the same when it has left
//   round.NUMBER.RANK the rank's block of a round, after a header of tcp_wire.hpp
//   published.NUMBER.RANK  a block of the rank that others look up, after such a header
//   failed            why the group failed, as a failure of tcp_wire.hpp
//   temporary.RANK... of any of these, while it is written
//
// Files appear whole, by renaming or linking; what is in them may be anything. Any thread.
class job_folder {
public:
    // Makes it if this is the first. Errors as ucg_oob_create_directory, with a line in the log.
    [[nodiscard]] static ucs::result<job_folder> open(std::string_view path, std::string_view job);

    // UCS_ERR_ALREADY_EXISTS, UCS_ERR_IO_ERROR.
    [[nodiscard]] ucs_status_t enter(rank_t rank) const;
    // The last of `size` ranks removes everything.
    void leave(rank_t rank, rank_t size) const noexcept;

    // UCS_ERR_IO_ERROR with a line in the log.
    [[nodiscard]] ucs_status_t write(const std::string& name, rank_t by,
                                     std::span<const std::byte> head,
                                     std::span<const std::byte> body = {}) const;
    void remove(const std::string& name) const noexcept;

    // As much of a file as there is, up to the sizes of both. 0: it is not there, or empty.
    // UCS_ERR_REJECTED: it is not a regular file of this user or root; UCS_ERR_IO_ERROR. Both with
    // a line in the log.
    [[nodiscard]] ucs::result<std::size_t> read(const std::string& name, std::span<std::byte> head,
                                                std::span<std::byte> body = {}) const;

    enum class presence { absent, here, left, dead };
    // Whether a process of this host lives, the kernel says; of others nobody knows.
    // Errors as read().
    [[nodiscard]] ucs::result<presence> look_for(rank_t rank) const;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    job_folder(std::string path, ucs::unique_fd folder) noexcept
        : path_(std::move(path)), folder_(std::move(folder)) {}
    [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] std::vector<std::string> list() const;
    [[nodiscard]] ucs_status_t make(const std::string& name, std::span<const std::byte> head,
                                    std::span<const std::byte> body) const;

    std::string path_;  // from the root
    ucs::unique_fd folder_;
};

}  // namespace ucg::oob
