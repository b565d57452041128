// The folder of a job, in which its ranks exchange files.
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

// The folder PATH/ucg-JOB. Only this user may enter it. Ranks write these files:
//
//   here.RANK         created when the rank enters; identifies its process; never created twice
//   left.RANK         the same file after the rank has left
//   round.NUMBER.RANK the rank's block of a round, after a header of tcp_wire.hpp
//   published.NUMBER.RANK  a published block of the rank, after such a header
//   failed            the failure of a round, in the format of tcp_wire.hpp
//   temporary.RANK... any of these files while it is written
//
// Files appear complete, by renaming or linking. Their contents are not trusted. Any thread.
class job_folder {
public:
    // Opens the folder, and creates it if it does not exist. Errors as of ucg_oob_create_directory,
    // with a line in the log.
    [[nodiscard]] static ucs::result<job_folder> open(std::string_view path, std::string_view job);

    // Registers this process as the rank. UCS_ERR_ALREADY_EXISTS, UCS_ERR_IO_ERROR.
    [[nodiscard]] ucs_status_t enter(rank_t rank) const;
    // Marks the rank as left. The last of `size` ranks removes all files and the folder.
    void leave(rank_t rank, rank_t size) const noexcept;

    // Writes a file that appears complete. UCS_ERR_IO_ERROR with a line in the log.
    [[nodiscard]] ucs_status_t write(const std::string& name, rank_t writer,
                                     std::span<const std::byte> head,
                                     std::span<const std::byte> body = {}) const;
    void remove(const std::string& name) const noexcept;

    // Reads a file into `head` and then `body`, up to their sizes, and returns the number of bytes.
    // 0: the file does not exist, or is empty. UCS_ERR_REJECTED: it is not a regular file of this
    // user or root; UCS_ERR_IO_ERROR. Both write a line to the log.
    [[nodiscard]] ucs::result<std::size_t> read(const std::string& name, std::span<std::byte> head,
                                                std::span<std::byte> body = {}) const;

    enum class presence { absent, present, left, dead };
    // The state of a rank. The kernel tells if a process of this host is alive; a process of
    // another host counts as present. Errors as of read().
    [[nodiscard]] ucs::result<presence> presence_of(rank_t rank) const;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    job_folder(std::string path, ucs::unique_fd folder) noexcept
        : path_(std::move(path)), folder_(std::move(folder)) {}
    [[nodiscard]] std::string path_of(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] std::vector<std::string> list() const;
    [[nodiscard]] ucs_status_t create(const std::string& name, std::span<const std::byte> head,
                                      std::span<const std::byte> body) const;

    std::string path_;  // an absolute path
    ucs::unique_fd folder_;
};

}  // namespace ucg::oob
