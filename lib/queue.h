/*
 * queue: records that were read ahead, in order.
 */
#ifndef CTS_QUEUE_H
#define CTS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include "intake.h"

struct queue {			/* all 0: empty */
	struct item *item;	/* n of them, from head on */
	size_t head, n, cap;
	size_t bytes;		/* of their lines */
};

/* The item that is next to have its result, or NULL; borrowed. */
struct item *queue_first(struct queue *q);

/* The i-th of those that wait, i < q->n; borrowed. */
struct item *queue_nth(struct queue *q, size_t i);

/* Is that all to be read ahead, by number or by bytes? */
bool queue_full(const struct queue *q);

/* Put *it, which is the queue's from then on, at the end. */
void queue_push(struct queue *q, const struct item *it);

/* The first one, which has to be there, goes. */
void queue_pop(struct queue *q);
void queue_release(struct queue *q);

#endif
