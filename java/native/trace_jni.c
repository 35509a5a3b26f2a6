/*
 * The native half of the Java binding: io.pcp.trace.internal.Native over the C API.
 *
 * A call passes only primitive values, or a tag whose bytes are copied to the stack: it allocates
 * nothing, and keeps nothing for the next call. (Labels and descriptions are allocated.)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define _GNU_SOURCE /* gettid */
#include <errno.h>
#include <pcp/trace.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "io_pcp_trace_internal_Native.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* JNI gives each call more than it needs */

#define NATIVE(name) Java_io_pcp_trace_internal_Native_##name

/*
 * Tags: Java has UTF-16, the library needs UTF-8. JNI's own conversion allocates and gives modified
 * UTF-8: NUL as two bytes, and each surrogate of a pair as three bytes.
 */

enum {
  kLongestTag = 254, /* bytes, so as many UTF-16 units at most */
  kMostLabels = 16,
  kOffsets = 64
};

struct tag_text {
  jchar units[kLongestTag];
  char bytes[kOffsets + kLongestTag + 1];
};

static int is_high_surrogate(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
static int is_low_surrogate(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

static int bytes_of(uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* Writes at most three bytes for a unit, four for a pair. */
static char* put_code_point(char* to, uint32_t code) {
  static const unsigned char kLead[] = {0, 0xC0, 0xE0, 0xF0};
  int rest = bytes_of(code) - 1;
  *to++ = (char)(kLead[rest] | code >> (6 * rest));
  while (rest-- > 0) *to++ = (char)(0x80 | (code >> (6 * rest) & 0x3F));
  return to;
}

/* Gives the code point at units[*i], and moves *i to its last unit. 0: NUL or half a pair. */
static uint32_t take_code_point(const jchar* units, jsize count, jsize* i) {
  const uint32_t code = units[*i];
  if (is_high_surrogate(code) && *i + 1 < count && is_low_surrogate(units[*i + 1]))
    return 0x10000 + ((code - 0xD800) << 10) + (units[++*i] - 0xDC00u);
  return is_high_surrogate(code) || is_low_surrogate(code) ? 0 : code;
}

/* Writes the units as UTF-8 with a NUL at the end. 0, or an error code. */
static int encode(const jchar* units, jsize count, char* to) {
  const char* const longest = to + kLongestTag;
  for (jsize i = 0; i < count; ++i) {
    const uint32_t code = take_code_point(units, count, &i);
    if (code == 0) return PMTRACE_ERR_TAGNAME;
    if (bytes_of(code) > longest - to) return PMTRACE_ERR_TAGLENGTH;
    to = put_code_point(to, code);
  }
  *to = '\0';
  return 0;
}

/*
 * Gives the tag's bytes, which lie in *text; NULL with an error code if it is no tag.
 *
 * The C library caches a thread's tags by the address of their bytes. With one buffer all tags
 * would share an address, so tags are put at mostly different offsets in it.
 */
static const char* read_tag(JNIEnv* env, jstring tag, struct tag_text* text, int* error) {
  *error = PMTRACE_ERR_TAGNAME;
  if (tag == NULL) return NULL;
  const jsize count = (*env)->GetStringLength(env, tag);
  if (count == 0) return NULL;
  *error = PMTRACE_ERR_TAGLENGTH;
  if (count > kLongestTag) return NULL;
  (*env)->GetStringRegion(env, tag, 0, count, text->units);
  const unsigned mixed = text->units[0] + 7u * text->units[count / 2] +
                         31u * text->units[count - 1] + 3u * (unsigned)count;
  char* bytes = text->bytes + mixed % kOffsets;
  *error = encode(text->units, count, bytes);
  return *error == 0 ? bytes : NULL;
}

/*
 * Transactions. Java keeps the tag, and the rest of an open transaction as one jlong: no native
 * memory that leaks without an end, and nothing that belongs to a thread. The library makes and
 * reads that word (its api/one_word.cpp), so this library must contain the tracing library of its
 * own build (see CMakeLists.txt).
 */

extern uint64_t pcp_trace_to_word(const pmtrace_tx* transaction);
extern void pcp_trace_from_word(uint64_t word, pmtrace_handle tag, pmtrace_tx* transaction);

static pmtrace_handle to_handle(jlong tag) { return (pmtrace_handle)(uintptr_t)tag; }

static pmtrace_tx to_transaction(jlong tag, jlong begun) {
  pmtrace_tx transaction;
  pcp_trace_from_word((uint64_t)begun, to_handle(tag), &transaction);
  return transaction;
}

/*
 * A transaction of a trace is attached to the native thread on which it begins: later begins there
 * are inside of it. A virtual thread's carrier is shared with other virtual threads, so there Java
 * keeps what is attached (Attachments.java), and nothing stays attached to the carrier.
 */

enum { kRefWord = 2, kIsAttached = 4 }; /* see the library's api/open_tx.hpp */

static jlong to_word(const pmtrace_tx* transaction, jboolean is_virtual) {
  if (!is_virtual || (transaction->opaque[kRefWord] & kIsAttached) == 0)
    return (jlong)pcp_trace_to_word(transaction);
  pmtrace_detach(transaction);
  return (jlong)pcp_trace_to_word(transaction) | io_pcp_trace_internal_Native_ATTACHED;
}

JNIEXPORT jlong JNICALL NATIVE(begin)(JNIEnv* env, jclass class, jlong tag, jboolean is_virtual) {
  pmtrace_tx transaction;
  pmtrace_begin(to_handle(tag), &transaction);
  return to_word(&transaction, is_virtual);
}

JNIEXPORT void JNICALL NATIVE(end)(JNIEnv* env, jclass class, jlong tag, jlong begun, jlong as) {
  pmtrace_tx transaction = to_transaction(tag, begun);
  pmtrace_end_as(&transaction, to_handle(as));
}

/* Traces. */

enum { kMostHeader = 16384 }; /* the library's limit */

/*
 * Gives a header for C; NULL if it is not ASCII. JNI encodes NUL and non-ASCII characters in two
 * bytes or more.
 */
static const char* read_header(JNIEnv* env, jstring header, char* room) {
  if (header == NULL) return NULL;
  const jsize length = (*env)->GetStringLength(env, header);
  if (length > kMostHeader || (*env)->GetStringUTFLength(env, header) != length) return NULL;
  (*env)->GetStringUTFRegion(env, header, 0, length, room);
  room[length] = '\0';
  return room;
}

static jstring to_string(JNIEnv* env, const char* text, int length) {
  return length > 0 ? (*env)->NewStringUTF(env, text) : NULL;
}

JNIEXPORT jlong JNICALL NATIVE(beginFrom)(JNIEnv* env, jclass class, jlong tag, jstring traceparent,
                                          jstring tracestate, jboolean is_virtual) {
  char parent[kMostHeader + 1], state[kMostHeader + 1];
  pmtrace_tx transaction;
  pmtrace_begin_from(to_handle(tag), &transaction, read_header(env, traceparent, parent),
                     read_header(env, tracestate, state));
  return to_word(&transaction, is_virtual);
}

JNIEXPORT jlong JNICALL NATIVE(beginUnder)(JNIEnv* env, jclass class, jlong tag, jlong parent_tag,
                                           jlong parent_begun, jboolean is_virtual) {
  const pmtrace_tx parent = to_transaction(parent_tag, parent_begun);
  pmtrace_tx transaction;
  pmtrace_begin_under(to_handle(tag), &transaction, &parent);
  return to_word(&transaction, is_virtual);
}

/* The same for what began earlier. A negative start is one in the future: now. */

JNIEXPORT jlong JNICALL NATIVE(beginAt)(JNIEnv* env, jclass class, jlong tag, jlong start,
                                        jboolean is_virtual) {
  pmtrace_tx transaction;
  pmtrace_begin_at(to_handle(tag), (uint64_t)start, &transaction);
  return to_word(&transaction, is_virtual);
}

JNIEXPORT jlong JNICALL NATIVE(beginFromAt)(JNIEnv* env, jclass class, jlong tag, jlong start,
                                            jstring traceparent, jstring tracestate,
                                            jboolean is_virtual) {
  char parent[kMostHeader + 1], state[kMostHeader + 1];
  pmtrace_tx transaction;
  pmtrace_begin_from_at(to_handle(tag), (uint64_t)start, &transaction,
                        read_header(env, traceparent, parent), read_header(env, tracestate, state));
  return to_word(&transaction, is_virtual);
}

JNIEXPORT jlong JNICALL NATIVE(beginUnderAt)(JNIEnv* env, jclass class, jlong tag, jlong start,
                                             jlong parent_tag, jlong parent_begun,
                                             jboolean is_virtual) {
  const pmtrace_tx parent = to_transaction(parent_tag, parent_begun);
  pmtrace_tx transaction;
  pmtrace_begin_under_at(to_handle(tag), (uint64_t)start, &transaction, &parent);
  return to_word(&transaction, is_virtual);
}

JNIEXPORT void JNICALL NATIVE(attach)(JNIEnv* env, jclass class, jlong tag, jlong begun) {
  const pmtrace_tx transaction = to_transaction(tag, begun);
  pmtrace_attach(&transaction);
}

JNIEXPORT void JNICALL NATIVE(detach)(JNIEnv* env, jclass class, jlong tag, jlong begun) {
  const pmtrace_tx transaction = to_transaction(tag, begun);
  pmtrace_detach(&transaction);
}

JNIEXPORT jboolean JNICALL NATIVE(isOpen)(JNIEnv* env, jclass class, jlong tag, jlong begun) {
  return to_transaction(tag, begun).opaque[0] != 0 ? JNI_TRUE : JNI_FALSE;
}

/* Defined in spans/thread_trace.cpp. */
extern int pcp_trace_nests(pmtrace_handle tag);
extern void pcp_trace_disown(pmtrace_handle tag, pmtrace_handle inner);

JNIEXPORT jboolean JNICALL NATIVE(nests)(JNIEnv* env, jclass class, jlong tag) {
  return pcp_trace_nests(to_handle(tag)) ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT void JNICALL NATIVE(disown)(JNIEnv* env, jclass class, jlong tag, jlong inner_tag) {
  pcp_trace_disown(to_handle(tag), to_handle(inner_tag));
}

/* Without a tag: the calling thread's. */

JNIEXPORT jstring JNICALL NATIVE(traceparent)(JNIEnv* env, jclass class, jlong tag, jlong begun) {
  const pmtrace_tx transaction = to_transaction(tag, begun);
  char text[PMTRACE_CONTEXT_SIZE];
  return to_string(env, text, pmtrace_context(tag != 0 ? &transaction : NULL, text, sizeof text));
}

JNIEXPORT jstring JNICALL NATIVE(tracestate)(JNIEnv* env, jclass class, jlong tag, jlong begun) {
  const pmtrace_tx transaction = to_transaction(tag, begun);
  char text[PMTRACE_CONTEXT_STATE_SIZE];
  const pmtrace_tx* which = tag != 0 ? &transaction : NULL;
  return to_string(env, text, pmtrace_context_state(which, text, sizeof text));
}

/* Notes. Strings are copied only if the transaction is captured, so Java asks that first. */

enum {
  kLongestNote = 4096,          /* bytes. The library limits keys. */
  kNoteUnits = kLongestNote + 1 /* one more: a pair is cut only where it has no room */
};

struct note_text {
  jchar units[kNoteUnits];
  char bytes[kLongestNote + 1];
};

/* Gives the text up to the longest note, with '?' for NUL and half pairs; NULL for null. */
static const char* read_note(JNIEnv* env, jstring note, struct note_text* text) {
  if (note == NULL) return NULL;
  const jsize length = (*env)->GetStringLength(env, note);
  const jsize count = length < kNoteUnits ? length : kNoteUnits;
  (*env)->GetStringRegion(env, note, 0, count, text->units);
  char* to = text->bytes;
  for (jsize i = 0; i < count; ++i) {
    uint32_t code = take_code_point(text->units, count, &i);
    if (code == 0) code = '?';
    if (bytes_of(code) > text->bytes + kLongestNote - to) break;
    to = put_code_point(to, code);
  }
  *to = '\0';
  return text->bytes;
}

JNIEXPORT jboolean JNICALL NATIVE(isCaptured)(JNIEnv* env, jclass class, jlong tag, jlong begun) {
  const pmtrace_tx transaction = to_transaction(tag, begun);
  return pmtrace_is_captured(&transaction) ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT void JNICALL NATIVE(note)(JNIEnv* env, jclass class, jlong tag, jlong begun, jstring key,
                                    jstring value) {
  pmtrace_tx transaction = to_transaction(tag, begun);
  struct tag_text name;
  struct note_text text;
  int error;
  pmtrace_note(&transaction, read_tag(env, key, &name, &error), read_note(env, value, &text));
}

JNIEXPORT void JNICALL NATIVE(noteNumber)(JNIEnv* env, jclass class, jlong tag, jlong begun,
                                          jstring key, jdouble value) {
  pmtrace_tx transaction = to_transaction(tag, begun);
  struct tag_text name;
  int error;
  pmtrace_note_number(&transaction, read_tag(env, key, &name, &error), value);
}

JNIEXPORT void JNICALL NATIVE(link)(JNIEnv* env, jclass class, jlong tag, jlong begun,
                                    jstring traceparent) {
  pmtrace_tx transaction = to_transaction(tag, begun);
  char header[kMostHeader + 1];
  pmtrace_link(&transaction, read_header(env, traceparent, header));
}

JNIEXPORT void JNICALL NATIVE(want)(JNIEnv* env, jclass class, jlong tag, jlong begun,
                                    jstring why) {
  pmtrace_tx transaction = to_transaction(tag, begun);
  struct note_text text;
  pmtrace_want(&transaction, read_note(env, why, &text));
}

/* Not inlined, since its buffer is large. */
__attribute__((noinline)) static void note_failure(JNIEnv* env, pmtrace_tx* transaction,
                                                   pmtrace_handle as, jstring reason) {
  struct note_text text;
  pmtrace_fail_as(transaction, as, read_note(env, reason, &text));
}

/* Also for an abort, which has no reason. */
JNIEXPORT void JNICALL NATIVE(fail)(JNIEnv* env, jclass class, jlong tag, jlong begun, jlong as,
                                    jstring reason) {
  pmtrace_tx transaction = to_transaction(tag, begun);
  if (reason != NULL && pmtrace_is_captured(&transaction))
    note_failure(env, &transaction, to_handle(as), reason);
  else
    pmtrace_abort_as(&transaction, to_handle(as));
}

/* The other calls by handle. They report nothing, except in the state SYNC. */

JNIEXPORT jlong JNICALL NATIVE(tag)(JNIEnv* env, jclass class, jstring name) {
  struct tag_text text;
  int error;
  const char* bytes = read_tag(env, name, &text, &error);
  if (bytes == NULL) return error;
  const pmtrace_handle tag = pmtrace_tag(bytes);
  return tag != NULL ? (jlong)(uintptr_t)tag : -ENOMEM;
}

static const char* next(const char* text) { return text + strlen(text) + 1; }

/* Reads names and values, at most one more than a tag may have. The last value may be missing. */
static size_t read_labels(const char* text, const char* end, pmtrace_label* labels) {
  size_t count = 0;
  for (; text < end && count <= kMostLabels; ++count) {
    const char* const value = next(text);
    labels[count].name = text;
    labels[count].value = value < end ? value : NULL;
    text = value < end ? next(value) : end;
  }
  return count;
}

/* Java has checked the labels: without a handle there was no memory. */
JNIEXPORT jlong JNICALL NATIVE(tagWith)(JNIEnv* env, jclass class, jbyteArray texts) {
  jbyte* bytes = (*env)->GetByteArrayElements(env, texts, NULL);
  if (bytes == NULL) return -ENOMEM;
  const char* const name = (const char*)bytes;
  pmtrace_label labels[kMostLabels + 1];
  const size_t count = read_labels(next(name), name + (*env)->GetArrayLength(env, texts), labels);
  const pmtrace_handle tag = pmtrace_tag_with(name, labels, count);
  (*env)->ReleaseByteArrayElements(env, texts, bytes, JNI_ABORT);
  return tag != NULL ? (jlong)(uintptr_t)tag : -ENOMEM;
}

JNIEXPORT jlong JNICALL NATIVE(addLabels)(JNIEnv* env, jclass class, jlong tag, jbyteArray texts) {
  jbyte* bytes = (*env)->GetByteArrayElements(env, texts, NULL);
  if (bytes == NULL) return 0;
  const char* const text = (const char*)bytes;
  pmtrace_label labels[kMostLabels + 1];
  const size_t count = read_labels(text, text + (*env)->GetArrayLength(env, texts), labels);
  const pmtrace_handle found = pmtrace_tag_add_labels(to_handle(tag), labels, count);
  (*env)->ReleaseByteArrayElements(env, texts, bytes, JNI_ABORT);
  return (jlong)(uintptr_t)found;
}

static const char* unless_empty(const char* text) { return *text != '\0' ? text : NULL; }

JNIEXPORT void JNICALL NATIVE(describe)(JNIEnv* env, jclass class, jlong tag, jbyteArray texts) {
  jbyte* bytes = (*env)->GetByteArrayElements(env, texts, NULL);
  if (bytes == NULL) return;
  const char* const unit = (const char*)bytes;
  pmtrace_describe(to_handle(tag), unless_empty(unit), unless_empty(next(unit)));
  (*env)->ReleaseByteArrayElements(env, texts, bytes, JNI_ABORT);
}

JNIEXPORT void JNICALL NATIVE(point)(JNIEnv* env, jclass class, jlong tag) {
  pmtrace_point(to_handle(tag));
}

JNIEXPORT void JNICALL NATIVE(observe)(JNIEnv* env, jclass class, jlong tag, jdouble value) {
  pmtrace_observe(to_handle(tag), value);
}

JNIEXPORT void JNICALL NATIVE(count)(JNIEnv* env, jclass class, jlong tag, jdouble value) {
  pmtrace_count(to_handle(tag), value);
}

JNIEXPORT void JNICALL NATIVE(add)(JNIEnv* env, jclass class, jlong tag, jdouble increment) {
  pmtrace_add(to_handle(tag), increment);
}

JNIEXPORT void JNICALL NATIVE(recordInside)(JNIEnv* env, jclass class, jint call, jlong tag,
                                            jdouble value, jlong parent_tag, jlong parent_begun) {
  static int (*const kOfValue[])(pmtrace_handle, double) = {pmtrace_observe, pmtrace_count,
                                                            pmtrace_add};
  const pmtrace_tx parent = to_transaction(parent_tag, parent_begun);
  if (parent_begun != 0) pmtrace_attach(&parent);
  if (call == 0)
    pmtrace_point(to_handle(tag));
  else
    kOfValue[call - 1](to_handle(tag), value);
  if (parent_begun != 0) pmtrace_detach(&parent);
}

/* The calls by name, numbered as in Calls.ByName. */
JNIEXPORT jint JNICALL NATIVE(byName)(JNIEnv* env, jclass class, jint call, jstring tag,
                                      jdouble value) {
  static int (*const kPlain[])(const char*) = {pmtracebegin, pmtraceend, pmtraceabort,
                                               pmtracepoint};
  static int (*const kOfValue[])(const char*, double) = {pmtraceobs, pmtracecounter, pmtraceadd};
  const jint first_of_value = sizeof kPlain / sizeof kPlain[0];
  struct tag_text text;
  int error;
  const char* name = read_tag(env, tag, &text, &error);
  if (name == NULL) return error;
  if (call < first_of_value) return kPlain[call](name);
  return kOfValue[call - first_of_value](name, value);
}

/* The library as a whole. */

JNIEXPORT jint JNICALL NATIVE(state)(JNIEnv* env, jclass class, jint flags) {
  return pmtracestate(flags);
}

JNIEXPORT jboolean JNICALL NATIVE(flush)(JNIEnv* env, jclass class, jdouble seconds) {
  return pmtrace_flush(seconds) == 1 ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jint JNICALL NATIVE(mmv)(JNIEnv* env, jclass class, jstring name) {
  struct tag_text text;
  int error;
  return pmtrace_mmv(read_tag(env, name, &text, &error));
}

JNIEXPORT jlongArray JNICALL NATIVE(stats)(JNIEnv* env, jclass class) {
  pmtrace_stats_t now;
  pmtrace_stats(&now, sizeof now);
  const jlong values[] = {(jlong)now.recorded,      (jlong)now.acknowledged, (jlong)now.pending,
                          (jlong)now.uncertain,     (jlong)now.merged,       (jlong)now.thinned,
                          (jlong)now.undeliverable, (jlong)now.aborted,      (jlong)now.batches,
                          (jlong)now.reconnects,    now.connected,           now.version,
                          (jlong)now.labels_cut,    (jlong)now.labels_over,  (jlong)now.unlisted};
  const jsize count = sizeof values / sizeof values[0];
  jlongArray array = (*env)->NewLongArray(env, count);
  if (array != NULL) (*env)->SetLongArrayRegion(env, array, 0, count, values);
  return array;
}

static jbyteArray bytes_for_java(JNIEnv* env, const char* text) {
  const jsize count = (jsize)strlen(text);
  jbyteArray array = (*env)->NewByteArray(env, count);
  if (array != NULL) (*env)->SetByteArrayRegion(env, array, 0, count, (const jbyte*)text);
  return array;
}

JNIEXPORT jbyteArray JNICALL NATIVE(errorBytes)(JNIEnv* env, jclass class, jint code) {
  return bytes_for_java(env, pmtraceerrstr(code));
}

JNIEXPORT jbyteArray JNICALL NATIVE(tagText)(JNIEnv* env, jclass class, jlong tag) {
  return bytes_for_java(env, pmtrace_tag_text(to_handle(tag)));
}

/* Defined in link/client_options.cpp. */
extern const char* pcp_trace_default_service;

JNIEXPORT void JNICALL NATIVE(setService)(JNIEnv* env, jclass class, jbyteArray name) {
  const jsize count = (*env)->GetArrayLength(env, name);
  char* text = malloc((size_t)count + 1); /* never freed */
  if (text == NULL) return;
  (*env)->GetByteArrayRegion(env, name, 0, count, (jbyte*)text);
  text[count] = '\0';
  pcp_trace_default_service = text;
}

/* Defined in spans/start_trace.cpp. */
extern pid_t pcp_trace_main_thread;

JNIEXPORT void JNICALL NATIVE(noteMainThread)(JNIEnv* env, jclass class) {
  pcp_trace_main_thread = gettid();
}
