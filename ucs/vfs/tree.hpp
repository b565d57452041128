// The object tree of the process: its roots, and reading it.
#pragma once

#include "ucs/type/result.hpp"
#include "ucs/vfs/question.hpp"

namespace ucs::vfs {

// Roots of the tree ("ucp/context/<name>"): added and removed by the objects' owners. A path that
// is taken gets "~2" or more at its end; returns the path that the root has.
std::string add_root(std::string path, const object& root);
void remove_root(const object& root);

// Any thread but one that a mailbox of the tree waits for.
[[nodiscard]] answer ask(const question& asked);

// The same in short.
[[nodiscard]] result<std::vector<item>> list(std::string_view path);
[[nodiscard]] result<std::string> read(std::string_view path);
ucs_status_t write(std::string_view path, std::string_view text);

}  // namespace ucs::vfs
