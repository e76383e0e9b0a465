#include "waiver.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "text.h"
#include "xalloc.h"

static int days_in(int year, int month)
{
	static const int days[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

bool date_ok(const char *s)
{
	int year, month, day;

	if (strlen(s) != 10 || s[4] != '-' || s[7] != '-')
		return false;
	for (int i = 0; i < 10; i++)
		if (i != 4 && i != 7 && !isdigit((unsigned char)s[i]))
			return false;
	if (sscanf(s, "%4d-%2d-%2d", &year, &month, &day) != 3)
		return false;
	return month >= 1 && month <= 12 && day >= 1 &&
	       day <= days_in(year, month);
}

/* A waiver must name something: one for every case of a device hides a run. */
static bool match_ok(const char *s)
{
	return s[strspn(s, "*/?")] != '\0';
}

static bool reason_ok(const char *s)
{
	return s[strspn(s, " \t")] != '\0';
}

static const struct ledger_key keys[] = {
	{ "device", true, match_ok, "a device, such as \"cuda*\"" },
	{ "match", true, match_ok, "a glob over case ids that is not all '*'" },
	{ "url", true, text_is_url, "an http:// or https:// address" },
	{ "reason", true, reason_ok, "a text" },
	{ "expires", true, date_ok, "a day as \"YYYY-MM-DD\"" },
};

struct reading { struct waivers *w; const char *today; };

static int add(void *ctx, const char *const *value, int lineno, struct err *e)
{
	struct reading *r = ctx;
	struct waivers *w = r->w;

	(void)e;
	w->v = xgrow(w->v, &w->cap, w->n + 1, sizeof(*w->v));
	w->v[w->n++] = (struct waiver) {
		.device = xstrdup(value[0]), .match = xstrdup(value[1]),
		.url = xstrdup(value[2]), .reason = xstrdup(value[3]),
		.expires = xstrdup(value[4]), .line = lineno,
		/* The last day itself still counts. */
		.expired = strcmp(value[4], r->today) < 0,
	};
	return 0;
}

int waivers_read(struct waivers *w, const char *path, const char *today,
		 struct err *e)
{
	struct reading r = { w, today };

	return ledger_read(path, keys, sizeof(keys) / sizeof(*keys), add, &r,
			   e);
}

void waivers_release(struct waivers *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->v[i].device);
		free(w->v[i].match);
		free(w->v[i].url);
		free(w->v[i].reason);
		free(w->v[i].expires);
	}
	free(w->v);
	memset(w, 0, sizeof(*w));
}

struct waiver *waivers_find(struct waivers *w, const char *device,
			    const char *id)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->v[i].expired &&
		    fnmatch(w->v[i].device, device, 0) == 0 &&
		    fnmatch(w->v[i].match, id, 0) == 0)
			return &w->v[i];
	return NULL;
}
