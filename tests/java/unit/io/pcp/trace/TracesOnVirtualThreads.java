// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace;

import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The same on virtual threads. JUnit finds this only by its name, since it needs Java 21. */
class TracesOnVirtualThreads extends TracesTest {
    /** Each test, and the look at what it leaves behind, are on one virtual thread. */
    @RegisterExtension
    final InvocationInterceptor onVirtualThread = new InvocationInterceptor() {
        private final ExecutorService thread = Executors.newSingleThreadExecutor(virtual());

        private void proceed(Invocation<Void> work) throws Exception {
            thread.submit(() -> {
                try {
                    return work.proceed();
                } catch (Throwable problem) {
                    throw new AssertionError(problem);
                }
            }).get();
        }

        @Override
        public void interceptTestMethod(Invocation<Void> work, ReflectiveInvocationContext<Method> method,
                ExtensionContext context) throws Exception {
            proceed(work);
        }

        @Override
        public void interceptAfterEachMethod(Invocation<Void> work, ReflectiveInvocationContext<Method> method,
                ExtensionContext context) throws Exception {
            proceed(work);
        }
    };

    private static ThreadFactory virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException older) {
            throw new AssertionError(older);
        }
    }
}
