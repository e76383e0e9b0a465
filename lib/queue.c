#include "queue.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"
#include "banned.h"

#define ITEMS_MAX 128
#define BYTES_MAX (4u << 20)

struct item *queue_first(struct queue *q)
{
	return q->n ? &q->item[q->head] : NULL;
}

struct item *queue_nth(struct queue *q, size_t i)
{
	return &q->item[q->head + i];
}

bool queue_full(const struct queue *q)
{
	return q->n >= ITEMS_MAX || q->bytes >= BYTES_MAX;
}

void queue_push(struct queue *q, const struct item *it)
{
	if (q->head && q->head + q->n == q->cap) {
		memmove(q->item, q->item + q->head, q->n * sizeof(*q->item));
		q->head = 0;
	}
	q->item = xgrow(q->item, &q->cap, q->head + q->n + 1,
			sizeof(*q->item));
	q->item[q->head + q->n++] = *it;
	q->bytes += it->len;
}

void queue_pop(struct queue *q)
{
	struct item *it = queue_first(q);

	q->bytes -= it->len;
	item_release(it);
	q->head++;
	q->n--;
	if (!q->n)
		q->head = 0;
}

void queue_release(struct queue *q)
{
	while (q->n)
		queue_pop(q);
	free(q->item);
	memset(q, 0, sizeof(*q));
}
