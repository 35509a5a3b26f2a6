/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call from Java that does nothing: what no tracing in native code can be cheaper than. */
#include <jni.h>

JNIEXPORT void JNICALL Java_CallCost_nothing(JNIEnv* env, jclass class, jlong argument);

JNIEXPORT void JNICALL Java_CallCost_nothing(JNIEnv* env, jclass class, jlong argument) {
  (void)env, (void)class, (void)argument;
}
