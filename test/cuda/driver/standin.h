/* Controls the stand-in for the CUDA driver: the interface for tests.
 *
 * The stand-in is a libcuda.so.1 for machines without a GPU. Run a program with
 * LD_LIBRARY_PATH=build/<preset>/test/cuda/driver/lib, or link hawser_standin_cuda. It models
 * order, memory, errors and ownership as <cuda.h> documents them, and is stricter than a GPU where
 * that shows mistakes. It says nothing about speed.
 *
 * Memory: each allocation is a memfd that the process sees at its device address without any
 * permission, so an access by the processor faults. Freed addresses are used again at once, and all
 * processes use the same addresses if they can. Allocations of up to 1 MB share blocks of 2 MB.
 * Managed, pinned and registered memory can be accessed by the processor.
 *
 * Streams: each has a thread. Operations take a random time, and the destination of a copy is
 * overwritten with a pattern when the copy begins, which may be inside the call. Copies from
 * pageable memory take their source inside the call; copies to it return when they are complete. An
 * operation on memory that was freed meanwhile gives the context CUDA_ERROR_ILLEGAL_ADDRESS, and
 * every later call with that context returns it.
 *
 * Contexts: calls that queue work, and those that make or destroy objects, need a current context.
 * Calls that ask or wait for the work of a stream or an event do not. Handles are never used again,
 * so those of destroyed objects are always refused.
 *
 * Handles of memory for other processes (cuIpcGetMemHandle) work between processes of one user that
 * see each other in /proc. The exporter's end, and each cuMemFree, make them invalid.
 *
 * Environment variables. The first use of the library reads them.
 *
 *   STANDIN_DEVICES=n          number of devices (1). With 0, cuInit returns CUDA_ERROR_NO_DEVICE.
 *   CUDA_VISIBLE_DEVICES=i,j   devices that this process sees, in this order.
 *   STANDIN_NO_PEER=0-1,2-3    pairs of devices that cannot access each other's memory.
 *   STANDIN_PCI=0000:3b:00,…   places of the devices on the PCI bus (0000:10:00, 0000:11:00, …).
 *   STANDIN_MEMORY_MB=n        memory of each device (8192). Pages are allocated at first use.
 *   STANDIN_VERSION=11040      what cuDriverGetVersion returns (13000). Functions that are newer
 *                              return CUDA_ERROR_NOT_SUPPORTED, and cuGetProcAddress lacks them.
 *   STANDIN_DMA_BUF=1          cuMemGetHandleForAddressRange returns a memfd in place of a dma-buf.
 *                              Its file offset is where the range begins in it. Otherwise, the
 *                              devices do not support dma-bufs.
 *   STANDIN_SEED=n             seed of the delays (1).
 *   STANDIN_DELAY_US=n         usual delay of an operation in microseconds (30). Some operations
 *                              have none, and some have eight times as much.
 *   STANDIN_FAIL=f:n:r,…       the n-th call of function f returns the CUresult r; every call with
 *                              n = 0. f is a symbol (cuMemAlloc_v2), or "operation" for the n-th
 *                              operation that any stream runs.
 *   STANDIN_KERNELS=file.so    library that cuInit loads and that registers kernels (kernels.hpp).
 *   STANDIN_LEAKS=fatal        the process ends with status 97 if objects are left. The list of
 *                              them is always written to stderr.
 *   STANDIN_TRACE=1            writes a line with the reason for each call that fails. Operations
 * that fail while their stream runs them always write such a line.
 */
#ifndef HAWSER_STANDIN_H
#define HAWSER_STANDIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STANDIN_EXPORT __attribute__((visibility("default")))

/* The n-th call from now of a function (1 is the next) returns `result`; every call if `nth` is 0.
 * The name "operation" makes the n-th operation that a stream runs fail, which its context keeps.
 */
STANDIN_EXPORT void standin_fail(const char* symbol, unsigned nth, int result);
STANDIN_EXPORT void standin_clear_faults(void);

/* Sets the seed and the usual delay of operations that begin from now on. */
STANDIN_EXPORT void standin_set_seed(unsigned long long seed);
STANDIN_EXPORT void standin_set_delay(unsigned microseconds);

/* While paused, no stream begins an operation: copies that are queued do not happen. Calls that
 * wait for a stream, such as cuMemFree, wait for the end of the pause. */
STANDIN_EXPORT void standin_pause_streams(int is_paused);

/* From now on all calls that concern the device return `result`, as if it had fallen off the bus;
 * all calls of the driver if `ordinal` is -1. The result 0 (CUDA_SUCCESS) ends this. */
STANDIN_EXPORT void standin_lose_device(int ordinal, int result);

/* Begins or ends a capture of a stream (a CUstream). Operations of a captured stream do not run. */
STANDIN_EXPORT void standin_capture_stream(void* stream, int is_capturing);

/* Returns the number of calls of a function, or of all functions if `symbol` is null. */
STANDIN_EXPORT unsigned long long standin_calls(const char* symbol);
STANDIN_EXPORT void standin_reset_calls(void);

/* Returns the number of objects of a kind that the process has not released, of all kinds if `kind`
 * is null: "context" (retained or created), "stream", "event", "device memory", "managed memory",
 * "pinned memory", "registered memory", "pool memory", "pool", "imported memory", "allocation
 * handle", "reservation", "mapping", "library". */
STANDIN_EXPORT size_t standin_live(const char* kind);

/* Writes one line for each of these objects, cut to `size` bytes with the final 0. Returns the
 * length of the whole text. `text` may be null if `size` is 0. */
STANDIN_EXPORT size_t standin_list_live(char* text, size_t size);

/* Writes these lines to stderr, as at the end of the process, and returns their number. */
STANDIN_EXPORT size_t standin_report_leaks(void);

#ifdef __cplusplus
}
#endif
#endif
