/* SPDX-License-Identifier: GPL-2.0 */
/* The word that was probably meant. */
#ifndef MTSCTL_NEAREST_H
#define MTSCTL_NEAREST_H

/*
 * Return: the word of @words, a list that ends with NULL, that differs least from @text: by two
 * bytes that are added, left out or changed, or less, and by less than half of @text. NULL: none.
 */
const char *nearest(const char *text, const char *const *words);

#endif /* MTSCTL_NEAREST_H */
