// The pages of ucx_info. Each prints to stdout and throws failure when it cannot.
#pragma once

#include "tools/info/options.hpp"

namespace tools::info {

void print_version();
void print_build();
void print_types();
void print_system();
void print_topology();
void print_config(const options& wanted);
void print_devices(const options& wanted);

// The pages of a context, a worker and an endpoint, as far as wanted.
void print_ucp(const options& wanted);

}  // namespace tools::info
