#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

static uint64_t word_at(uint64_t tag, uint64_t sequence, size_t index) {
    return (index + 1) * 0x9e3779b97f4a7c15U ^ sequence * 0xc2b2ae3d27d4eb4fU ^ tag;
}

static void fill(const struct channel* of, const struct operation* message) {
    for (size_t at = 0; at < of->size; at += 8) {
        const uint64_t word = word_at(of->tag, message->sequence, at / 8);
        memcpy(message->buffer + at, &word, of->size - at < 8 ? of->size - at : 8);
    }
}

static bool intact(const struct channel* of, const struct operation* message) {
    for (size_t at = 0; at < of->size; at += 8) {
        const uint64_t word = word_at(of->tag, message->sequence, at / 8);
        if (memcmp(message->buffer + at, &word, of->size - at < 8 ? of->size - at : 8) != 0) {
            return false;
        }
    }
    return true;
}

static void finish(struct operation* message, ucs_status_t status, size_t length) {
    struct channel* of = message->owner;
    message->busy = false;
    message->request = NULL;
    --of->open;
    if (status != UCS_OK) {
        if (of->failed++ == 0) of->first_failure = status;
        return;
    }
    ++of->succeeded;
    if (of->to == NULL && (length != of->size || !intact(of, message))) ++of->wrong;
}

static void sent(void* request, ucs_status_t status, void* user_data) {
    struct operation* message = user_data;
    finish(message, status, 0);
    ucp_request_free(request);
}

static void received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                     void* user_data) {
    struct operation* message = user_data;
    finish(message, status, info->length);
    ucp_request_free(request);
}

static void start(struct channel* of, struct operation* message) {
    ucp_request_param_t how = {0};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    how.user_data = message;
    message->busy = true;
    message->sequence = of->started++;
    ++of->open;
    ucs_status_ptr_t result;
    if (of->to != NULL) {
        fill(of, message);
        how.cb.send = sent;
        result = ucp_tag_send_nbx(of->to, message->buffer, of->size, of->tag, &how);
    } else {
        memset(message->buffer, 0xa5, of->size);
        how.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        how.cb.recv = received;
        result = ucp_tag_recv_nbx(worker, message->buffer, of->size, of->tag, UINT64_MAX, &how);
    }
    if (!UCS_PTR_IS_PTR(result)) {
        finish(message, UCS_PTR_STATUS(result), of->size);
    } else if (message->busy) { /* else the callback has run already, and freed it */
        message->request = result;
    }
}

struct channel* find_channel(const char* name) {
    for (unsigned i = 0; i < max_channels; ++i) {
        if (strcmp(channels[i].name, name) == 0) return &channels[i];
    }
    return NULL;
}

struct channel* open_channel(const char* name, ucp_ep_h to, uint64_t tag, size_t size,
                             unsigned window, uint64_t limit) {
    struct channel* fresh = find_channel("");
    if (fresh == NULL || window > max_window) return NULL;
    for (unsigned i = 0; i < window; ++i) {
        fresh->slots[i].owner = fresh;
        fresh->slots[i].buffer = malloc(size > 0 ? size : 1);
        if (fresh->slots[i].buffer == NULL) return NULL;
    }
    fresh->to = to;
    fresh->tag = tag;
    fresh->size = size;
    fresh->window = window;
    fresh->limit = limit;
    snprintf(fresh->name, sizeof(fresh->name), "%s", name);
    return fresh;
}

void forget_channel(struct channel* which) {
    for (unsigned i = 0; i < which->window; ++i)
        free(which->slots[i].buffer);
    memset(which, 0, sizeof(*which));
}

static bool wants_more(const struct channel* which) {
    return which->name[0] != '\0' && !which->stopped && which->failed == 0 &&
           (which->limit == 0 || which->started < which->limit);
}

void feed_channels(void) {
    for (unsigned c = 0; c < max_channels; ++c) {
        struct channel* which = &channels[c];
        for (unsigned i = 0; i < which->window && wants_more(which); ++i) {
            if (!which->slots[i].busy) start(which, &which->slots[i]);
        }
    }
}

void stop_channel(struct channel* which) {
    which->stopped = true;
    for (unsigned i = 0; which->to == NULL && i < which->window; ++i) {
        if (which->slots[i].request != NULL) ucp_request_cancel(worker, which->slots[i].request);
    }
}

bool settled(const struct channel* which) {
    return which->open == 0 && !wants_more(which);
}

void describe_channel(const struct channel* which) {
    say("ok open=%u succeeded=%llu failed=%llu wrong=%llu first=%s", which->open,
        (unsigned long long)which->succeeded, (unsigned long long)which->failed,
        (unsigned long long)which->wrong,
        which->failed > 0 ? ucs_status_string(which->first_failure) : "-");
}
