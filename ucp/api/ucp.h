/*
 * UCP: the communication interface that programs use. This header includes all of it, one
 * header per kind of object or operation.
 *
 * Rules for all functions:
 * - Structures with a field_mask: the caller sets the bits of the members it filled in (or wants
 *   filled in); the library touches no other member and ignores bits it does not know, so that
 *   programs and libraries of different versions fit together.
 * - Threads: functions marked "any thread" may be called by any thread. "Owner thread" functions
 * act on a worker or an object that belongs to one; the worker's thread mode tells which threads
 * may call them.
 * - Callbacks run inside ucp_worker_progress, or inside the call that starts an operation if
 *   its description says so. They may start operations and free requests, but must not call
 *   ucp_worker_progress.
 */
#ifndef UCP_API_UCP_H_
#define UCP_API_UCP_H_

#include <stdio.h>
#include <sys/types.h>
#include <ucp/api/ucp_am.h>
#include <ucp/api/ucp_compat.h>
#include <ucp/api/ucp_config.h>
#include <ucp/api/ucp_context.h>
#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_dt.h>
#include <ucp/api/ucp_ep.h>
#include <ucp/api/ucp_listener.h>
#include <ucp/api/ucp_mem.h>
#include <ucp/api/ucp_request.h>
#include <ucp/api/ucp_rma.h>
#include <ucp/api/ucp_stream.h>
#include <ucp/api/ucp_tag.h>
#include <ucp/api/ucp_version.h>
#include <ucp/api/ucp_worker.h>
#include <ucs/sys/compiler_def.h>

#endif
