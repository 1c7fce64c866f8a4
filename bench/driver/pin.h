/* SPDX-License-Identifier: GPL-2.0 */
/* labdrive: locks the driver's memory, and takes memory away until programs find `free_mib`. */
#ifndef LABDRIVE_PIN_H
#define LABDRIVE_PIN_H

/**
 * pin_self() - lock the driver's memory, and run at SCHED_FIFO 1
 *
 * Children inherit neither the lock nor the priority. What is mapped later is locked too.
 * Fails the run if the kernel refuses.
 */
void pin_self(void);

/**
 * pin_rest() - take memory until programs find free_mib MiB free
 *
 * Page cache, dentries and inodes are dropped first. What is then left is MemAvailable of
 * /proc/meminfo less what of it is slab that could not be dropped, right to a quarter of a MiB, or
 * to a 1024th if that is more. The OOM killer spares the driver from then on.
 * Fails the run if less is free to begin with.
 * Returns the MiB taken.
 */
double pin_rest(double free_mib);

/* What programs find free now, MiB. */
double pin_available_mib(void);

#endif
