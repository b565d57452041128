#include <stdlib.h>
#include <string.h>

#include "peer.h"

static uint64_t word_at(uint64_t tag, uint64_t sequence, size_t index) {
    return (index + 1) * 0x9e3779b97f4a7c15U ^ sequence * 0xc2b2ae3d27d4eb4fU ^ tag;
}

static void fill(const struct channel* channel, const struct operation* message) {
    for (size_t offset = 0; offset < channel->size; offset += 8) {
        const uint64_t word = word_at(channel->tag, message->sequence, offset / 8);
        memcpy(message->buffer + offset, &word,
               channel->size - offset < 8 ? channel->size - offset : 8);
    }
}

static bool intact(const struct channel* channel, const struct operation* message) {
    for (size_t offset = 0; offset < channel->size; offset += 8) {
        const uint64_t word = word_at(channel->tag, message->sequence, offset / 8);
        if (memcmp(message->buffer + offset, &word,
                   channel->size - offset < 8 ? channel->size - offset : 8) != 0) {
            return false;
        }
    }
    return true;
}

static void finish(struct operation* message, ucs_status_t status, size_t length) {
    struct channel* channel = message->owner;
    message->busy = false;
    message->request = NULL;
    --channel->open;
    if (status != UCS_OK) {
        if (channel->failed++ == 0) channel->first_failure = status;
        return;
    }
    ++channel->succeeded;
    if (channel->to == NULL && (length != channel->size || !intact(channel, message)))
        ++channel->wrong;
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

static void start(struct channel* channel, struct operation* message) {
    ucp_request_param_t param = {0};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.user_data = message;
    message->busy = true;
    message->sequence = channel->started++;
    ++channel->open;
    ucs_status_ptr_t result;
    if (channel->to != NULL) {
        fill(channel, message);
        param.cb.send = sent;
        result =
            ucp_tag_send_nbx(channel->to, message->buffer, channel->size, channel->tag, &param);
    } else {
        memset(message->buffer, 0xa5, channel->size);
        param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        param.cb.recv = received;
        result = ucp_tag_recv_nbx(worker, message->buffer, channel->size, channel->tag, UINT64_MAX,
                                  &param);
    }
    if (!UCS_PTR_IS_PTR(result)) {
        finish(message, UCS_PTR_STATUS(result), channel->size);
    } else if (message->busy) { /* otherwise the callback has run already, and freed it */
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
