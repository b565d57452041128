// The options of logging, UCX_LOG_*.
#pragma once

#include <string>

#include "ucs/config/option.hpp"

namespace ucs::log {

// The text of a level_map, checked when it is read.
struct level_text {
    std::string text = "warn";
};

// Fields of the table; read_settings() turns them into `settings`.
struct options {
    level_text levels;
    std::string file;
    config::memunits file_size{config::memunits::inf};
    unsigned backups = 0;
    unsigned repeats = 8;

    static const config::table& table();
};

}  // namespace ucs::log

template<>
const ucs::config::value_type& ucs::config::value_type_of<ucs::log::level_text>();
