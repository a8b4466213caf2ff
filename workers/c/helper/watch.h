/* Memory and CPU time of a command while it runs, over all processes that it started, and advice on their memory. */
#ifndef PAGEWISE_WATCH_H
#define PAGEWISE_WATCH_H
#include <stdint.h>
#include <sys/types.h>

void watch_begin(uint64_t every_ms);           /* samples from now on, once in so many milliseconds */
void watch_advise(const char *advice);         /* gives all memory of the command this advice once a second: cold, pageout */
uint64_t watch_wait_ms(void);                  /* milliseconds until something is due; UINT64_MAX where nothing is asked */
void watch_read(void);                         /* does what is due */
void watch_end(void);                          /* takes a last sample now */
uint64_t watch_cpu_us(void);                   /* CPU time and minor faults of the command by the last sample */
uint64_t watch_minor_faults(void);
uint64_t watch_advised(void);                  /* bytes that the kernel took advice on */
int watch_advice_error(void);                  /* the last error of that; 0 where there was none */
/* Prints the samples; a command that ended by itself has used so much in all. */
void watch_print(uint64_t wall_ns, uint64_t cpu_us, uint64_t minor_faults);
#endif
