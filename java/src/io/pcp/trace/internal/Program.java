// SPDX-License-Identifier: LGPL-2.1-or-later
package io.pcp.trace.internal;

/** The program that the JVM runs. The process's name is only "java". */
final class Program {
    private Program() {}

    /** Gives the name of the main class, or of the jar that was started. */
    static String name() {
        return nameIn(System.getProperty("sun.java.command", ""));
    }

    /** Takes it from a command: a class, {@code module/class} or a jar's path, and arguments. */
    static String nameIn(String command) {
        String what = (command + " ").substring(0, (command + " ").indexOf(' '));
        int jar = (command + " ").indexOf(".jar ");
        if (what.contains("/") && jar >= 0) { // a path may have blanks
            what = command.substring(0, jar + ".jar".length());
        }
        String name = what.substring(what.lastIndexOf('/') + 1);
        return name.isEmpty() ? "java" : name;
    }
}
