/*
 * One native library for all class loaders of a JVM. The JVM loads a library file for one class
 * loader only. In an application server a copy per class loader would mean a client with thread,
 * descriptors and connection for each. So the first class loader's Library gives the class Loaded
 * to the boot class loader, which all can see, and the others bind to the loaded library.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stddef.h>
#include <stdint.h>

#include "io_pcp_trace_internal_Native.h"

#define NAME(method) Java_io_pcp_trace_internal_Native_##method
#define METHOD(method, signature) \
  { #method, signature, (void*)(uintptr_t)NAME(method) }

static const JNINativeMethod kMethods[] = {
    METHOD(tag, "(Ljava/lang/String;)J"),
    METHOD(tagWith, "([B)J"),
    METHOD(addLabels, "(J[B)J"),
    METHOD(tagText, "(J)[B"),
    METHOD(describe, "(J[B)V"),
    METHOD(point, "(J)V"),
    METHOD(observe, "(JD)V"),
    METHOD(count, "(JD)V"),
    METHOD(add, "(JD)V"),
    METHOD(recordInside, "(IJDJJ)V"),
    METHOD(begin, "(JZ)J"),
    METHOD(end, "(JJJ)V"),
    METHOD(beginFrom, "(JLjava/lang/String;Ljava/lang/String;Z)J"),
    METHOD(beginUnder, "(JJJZ)J"),
    METHOD(beginAt, "(JJZ)J"),
    METHOD(beginFromAt, "(JJLjava/lang/String;Ljava/lang/String;Z)J"),
    METHOD(beginUnderAt, "(JJJJZ)J"),
    METHOD(attach, "(JJ)V"),
    METHOD(detach, "(JJ)V"),
    METHOD(isOpen, "(JJ)Z"),
    METHOD(nests, "(J)Z"),
    METHOD(disown, "(JJ)V"),
    METHOD(traceparent, "(JJ)Ljava/lang/String;"),
    METHOD(tracestate, "(JJ)Ljava/lang/String;"),
    METHOD(isCaptured, "(JJ)Z"),
    METHOD(note, "(JJLjava/lang/String;Ljava/lang/String;)V"),
    METHOD(noteNumber, "(JJLjava/lang/String;D)V"),
    METHOD(link, "(JJLjava/lang/String;)V"),
    METHOD(want, "(JJLjava/lang/String;)V"),
    METHOD(fail, "(JJJLjava/lang/String;)V"),
    METHOD(byName, "(ILjava/lang/String;D)I"),
    METHOD(state, "(I)I"),
    METHOD(flush, "(D)Z"),
    METHOD(mmv, "(Ljava/lang/String;)I"),
    METHOD(stats, "()[J"),
    METHOD(errorBytes, "(I)[B"),
    METHOD(setService, "([B)V"),
    METHOD(noteMainThread, "()V"),
    METHOD(share, "([B)V"),
};

/* Loaded.bind(). `version` is the VERSION of the caller's Native. */
static jboolean JNICALL bind(JNIEnv* env, jclass class, jclass natives, jint version) {
  (void)class;
  if (version != io_pcp_trace_internal_Native_VERSION) return JNI_FALSE;
  const jint count = sizeof kMethods / sizeof kMethods[0];
  return (*env)->RegisterNatives(env, natives, kMethods, count) == 0 ? JNI_TRUE : JNI_FALSE;
}

/* Defines Loaded in the boot class loader. If that fails, each class loader has its own library. */
JNIEXPORT void JNICALL NAME(share)(JNIEnv* env, jclass class, jbyteArray code) {
  (void)class;
  static const JNINativeMethod kBind = {"bind", "(Ljava/lang/Class;I)Z", (void*)(uintptr_t)bind};
  const jsize size = (*env)->GetArrayLength(env, code);
  jbyte* bytes = (*env)->GetByteArrayElements(env, code, NULL);
  if (bytes == NULL) return;
  jclass loaded = (*env)->DefineClass(env, "io/pcp/trace/internal/Loaded", NULL, bytes, size);
  (*env)->ReleaseByteArrayElements(env, code, bytes, JNI_ABORT);
  if (loaded != NULL) (*env)->RegisterNatives(env, loaded, &kBind, 1);
}
