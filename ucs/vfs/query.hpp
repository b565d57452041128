// Queries to the object tree, and their answers.
#pragma once

#include <string>
#include <vector>

#include "ucs/type/status.h"
#include "ucs/vfs/directory.hpp"

namespace ucs::vfs {

enum class verb : char { stat, list, read, write };

struct query {
    verb operation = verb::stat;
    std::string path;  // names separated by '/'; "" is the top
    std::string text;  // of a write
};

// An entry without its content.
struct item {
    std::string name;
    directory::entry::kind type = directory::entry::kind::folder;
    bool writable = false;
    std::string target;  // of a link
};

// UCS_ERR_NO_ELEM: the path does not exist. UCS_ERR_INVALID_PARAM: the entry is a file instead of a
// folder or a folder instead of a file, or the written text is invalid. UCS_ERR_UNSUPPORTED: the
// entry cannot be read, or cannot be written.
struct answer {
    ucs_status_t status = UCS_OK;
    std::string text;  // of a read
    std::vector<item>
        items;  // list: the entries; stat: the one entry, without following a final link
};

}  // namespace ucs::vfs
