/* Time from ucp_config_read to the first worker's address, in a process that did nothing else yet.
 */
#include "bench.h"

int main(void) {
    const double started = now_us();
    ucp_context_h context = context_new();
    const double middle = now_us();
    ucp_worker_h worker = worker_new(context);
    const double ended = now_us();
    printf("{\"us\": %.1f, \"init_us\": %.1f, \"worker_us\": %.1f}\n", ended - started,
           middle - started, ended - middle);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return 0;
}
