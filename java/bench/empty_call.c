/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call from Java that does nothing: the least cost of any native tracing call. */
#include <jni.h>

JNIEXPORT void JNICALL Java_CallCost_nothing(JNIEnv* env, jclass class, jlong argument);

JNIEXPORT void JNICALL Java_CallCost_nothing(JNIEnv* env, jclass class, jlong argument) {
  (void)env, (void)class, (void)argument;
}
