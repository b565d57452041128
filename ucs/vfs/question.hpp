// What readers of the object tree ask, and what they get.
#pragma once

#include <string>
#include <vector>

#include "ucs/type/status.h"
#include "ucs/vfs/directory.hpp"

namespace ucs::vfs {

enum class verb : char { look, list, read, write };

struct question {
    verb what = verb::look;
    std::string path;  // names with '/' between; "" is the top
    std::string text;  // of a write
};

// An entry without its content.
struct item {
    std::string name;
    directory::entry::kind type = directory::entry::kind::folder;
    bool writable = false;
    std::string target;  // of a link
};

// UCS_ERR_NO_ELEM: there is nothing of this path. UCS_ERR_INVALID_PARAM: it is a file and not a
// folder, or the other way round, or the text that was written has no meaning there.
// UCS_ERR_UNSUPPORTED: it cannot be read, or not be written.
struct answer {
    ucs_status_t status = UCS_OK;
    std::string text;         // of a read
    std::vector<item> items;  // of a list; one of a look, which follows no link at the end
};

}  // namespace ucs::vfs
