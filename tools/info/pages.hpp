// The pages of ucx_info. Each prints to stdout, and throws failure if it cannot.
#pragma once

#include "tools/info/options.hpp"

namespace tools::info {

void print_version();
void print_build();
void print_types();
void print_system();
void print_topology();
void print_config(const options& opts);
void print_devices(const options& opts);

// Prints the requested pages of a context, a worker and an endpoint.
void print_ucp(const options& opts);

}  // namespace tools::info
