// The object tree of the process: registration of roots, and queries.
#pragma once

#include "ucs/type/result.hpp"
#include "ucs/vfs/query.hpp"

namespace ucs::vfs {

// Add and remove roots of the tree ("ucp/context/<name>"), which the owners of the objects call. If
// the path is taken, add_root() appends "~2" or a higher number. It returns the path of the root.
std::string add_root(std::string path, const object& root);
void remove_root(const object& root);

// Answers a query. Any thread, except one whose mailbox is in the tree: it would wait for itself.
[[nodiscard]] answer ask(const query& request);

// Short forms of ask().
[[nodiscard]] result<std::vector<item>> list(std::string_view path);
[[nodiscard]] result<std::string> read(std::string_view path);
ucs_status_t write(std::string_view path, std::string_view text);

// Adds ucs/global_opts to the tree; later calls do nothing. Any thread.
void show_global_options();

}  // namespace ucs::vfs
