/* Dates, and the strictness of ledgers. */
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "err.h"
#include "waiver.h"

static char path[] = "/tmp/cts-unit.XXXXXX";

/* What reading text says; "" if nothing. */
static const char *reads(const char *text, struct waivers *w)
{
	static struct err e;
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	memset(w, 0, sizeof(*w));
	if (waivers_read(w, path, "2025-06-01", &e) == 0)
		return "";
	return e.code == EX_BADINPUT ? e.msg + strlen(path) : "wrong code";
}

#define GOOD "{\"device\":\"d*\",\"match\":\"opinfo/a/*\",\"url\":" \
	"\"https://x/1\",\"reason\":\"r\",\"expires\":\"2025-06-01\"}"

static void dates(void)
{
	ok(date_ok("2024-02-29"), "a leap day");
	ok(!date_ok("2023-02-29"), "in a leap year");
	ok(!date_ok("1900-02-29") && date_ok("2000-02-29"), "by centuries");
	ok(!date_ok("2023-13-01") && !date_ok("2023-00-01"), "months");
	ok(!date_ok("2023-04-31") && !date_ok("2023-04-00"), "days");
	ok(!date_ok("2023-4-1") && !date_ok(" 023-04-01") &&
	   !date_ok("2023-04-01 ") && !date_ok("") && !date_ok("2023-+4-01"),
	   "and nothing but");
}

int main(void)
{
	struct waivers w;
	struct waiver *hit;

	close(mkstemp(path));
	dates();
	is_str(reads("\n" GOOD "\n\n" GOOD, &w), "", "blank lines, no last LF");
	ok(w.n == 2 && w.v[1].line == 4, "lines are counted");
	hit = waivers_find(&w, "dev:0", "opinfo/a/int8/plain");
	ok(hit == &w.v[0] && !hit->expired, "found, on its last day too");
	ok(!waivers_find(&w, "cuda", "opinfo/a/int8/plain"), "by device");
	ok(!waivers_find(&w, "dev", "opinfo/b/int8/plain"), "and id");
	waivers_release(&w);

	is_str(reads("{\"device\":\"d\"}", &w),
	       ":1: no 'match', which must be a glob over case ids that is "
	       "not all '*'", "what is missing is said");
	is_str(reads("[]", &w), ":1: not a JSON object", "lists are refused");
	ok(strstr(reads("{\"device\":\"d\",\"device\":\"e\"}", &w), ":1: "),
	   "a key twice is refused");
	ok(strstr(reads("{\"devices\":\"d\"}", &w), "unknown key 'devices'"),
	   "so is an unknown one");
	ok(*reads("{", &w) == ':', "and what is no JSON");
	waivers_release(&w);
	unlink(path);
	return done();
}
