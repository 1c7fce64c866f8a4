/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text format of Prometheus, version 0.0.4, on standard output. It requires base units, and all
 * samples of a metric together. Names are given without their prefix mts_.
 */
#ifndef MTSCTL_METRICS_H
#define MTSCTL_METRICS_H

#include "policy/pure.h"

/* HELP and TYPE, which come before the samples. */
void metric_head(const char *name, const char *type, const char *help);

/* A value, and the end of its line: as it is; or seconds, without rounding. */
void metric_end(u64 value);
void metric_end_seconds(u64 ns);

/* The value of a label: any bytes, escaped. */
void metric_label(const char *text);

/* A whole metric with one sample and no label. */
void metric_gauge(const char *name, const char *help, u64 value);
void metric_gauge_seconds(const char *name, const char *help, u64 ns);
void metric_gauge_permille(const char *name, const char *help, u32 permille);
void metric_counter(const char *name, const char *help, u64 value);
void metric_counter_seconds(const char *name, const char *help, u64 ns);

#endif /* MTSCTL_METRICS_H */
