// Names of socket addresses in this transport.
#pragma once

#include "ucs/net/ip_address.hpp"

namespace uct::tcp {

using ucs::net::ip_address;
using ucs::net::socket_address;

}  // namespace uct::tcp
