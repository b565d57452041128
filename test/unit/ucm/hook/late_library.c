/* A library that is opened after the functions of the C library were replaced. */
#include <stddef.h>
#include <sys/mman.h>

__attribute__((visibility("default"))) int late_unmap(void* address, size_t size);

int late_unmap(void* address, size_t size) {
    return munmap(address, size);
}
