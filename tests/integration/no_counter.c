/*
 * Preloaded into a program, this takes the processor's time-stamp counter away from it, as some
 * sandboxes do: whoever reads it gets a signal.
 */
#include <sys/prctl.h>

__attribute__((constructor)) static void take_counter_away(void) {
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}
