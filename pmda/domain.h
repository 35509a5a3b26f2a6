/* The number that the trace agent has among PCP's agents. */
#define TRACE 10
