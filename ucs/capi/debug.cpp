#include "ucs/debug/debug.h"

int ucs_debug_is_error_signal(int /*signum*/) {
    return 0;
}
