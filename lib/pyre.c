#include "pyre.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "buf.h"
#include "xalloc.h"

#define GROUPS 64

struct trans {
	const char *p;
	struct buf out;
	bool icase;
	int depth;
	long weight[GROUPS];	/* largest product of repeats in the group */
	long last;		/* that of the atom just read; 0: none */
	long total;		/* all that repeats write out, side by side */
	struct err *e;
};

static int bad(struct trans *t, const char *what)
{
	return err_set(t->e, EX_BADUSE, "%s", what);
}

/* What \d, \w and \s are, as the inside of a bracket expression. */
static const char *class_inside(char c)
{
	switch (c) {
	case 'd': case 'D':
		return "0-9";
	case 'w': case 'W':
		return "[:alnum:]_";
	case 's': case 'S':
		return "[:space:]";
	default:
		return NULL;
	}
}

/* The character that an escape such as \n or \x41 stands for; -1: none. */
static int escaped_char(struct trans *t)
{
	static const char from[] = "nrtfva", to[] = "\n\r\t\f\v\a";
	char hex[3] = "";
	const char *at;
	char c = *t->p++;

	if (c == 'x') {
		if (!isxdigit((unsigned char)t->p[0]) ||
		    !isxdigit((unsigned char)t->p[1]))
			return -1;
		memcpy(hex, t->p, 2);
		t->p += 2;
		return (int)strtol(hex, NULL, 16);
	}
	at = strchr(from, c);
	if (at)
		return to[at - from];
	return isalnum((unsigned char)c) ? -1 : (unsigned char)c;
}

static void literal(struct trans *t, int c)
{
	if (strchr("^.[]$()|*+?{}\\", c))
		buf_addch(&t->out, '\\');
	buf_addch(&t->out, (char)c);
}

static int escape(struct trans *t)
{
	const char *inside;
	int c;

	t->p++;
	if (!*t->p)
		return bad(t, "it ends in a backslash");
	inside = class_inside(*t->p);
	if (inside) {
		buf_addf(&t->out, "[%s%s]", isupper((unsigned char)*t->p) ?
			 "^" : "", inside);
		t->p++;
		t->last = 1;
		return 0;
	}
	t->last = 0;
	switch (*t->p) {
	case 'b': case 'B':
		buf_addf(&t->out, "\\%c", *t->p++);
		return 0;
	case 'A':
		buf_addch(&t->out, '^');
		t->p++;
		return 0;
	case 'Z':
		buf_addch(&t->out, '$');
		t->p++;
		return 0;
	default:
		break;
	}
	if (isdigit((unsigned char)*t->p) && *t->p != '0')
		return bad(t, "back-references are not supported");
	c = escaped_char(t);
	if (c <= 0)
		return bad(t, "unknown escape");
	literal(t, c);
	t->last = 1;
	return 0;
}

static bool in_class(char cls, int c)
{
	bool in = cls == 'd' || cls == 'D' ? isdigit(c) :
		  cls == 's' || cls == 'S' ? isspace(c) :
		  isalnum(c) || c == '_';

	return isupper((unsigned char)cls) ? !in : in;
}

/* One character of a bracket expression into *c; 1: a class, added whole. */
static int bracket_char(struct trans *t, bool *set, int *c)
{
	int i;

	if (*t->p != '\\') {
		*c = (unsigned char)*t->p++;
	} else if (!*++t->p) {
		return bad(t, "a '[' without ']'");
	} else if (strchr("dDwWsS", *t->p)) {
		for (i = 1; i < 128; i++)
			set[i] |= in_class(*t->p, i);
		t->p++;
		return 1;
	} else if (*t->p == 'b') {
		t->p++;
		*c = '\b';
	} else {
		*c = escaped_char(t);
		if (*c <= 0)
			return bad(t, "unknown escape inside []");
	}
	return *c < 128 ? 0 : bad(t, "only ASCII is supported inside []");
}

/*
 * POSIX knows no escapes in brackets and gives some characters a meaning by
 * their place: the set is written out, ']' first and '[', '^', '-' last.
 */
static void bracket_write(struct trans *t, const bool *set, bool negated)
{
	static const char last[] = "[^-";
	int i, n = 0;

	for (i = 1; i < 128; i++)
		n += set[i];
	if (!negated && set['^'] && n == 1 + set['-']) {
		buf_addstr(&t->out, set['-'] ? "[-^]" : "\\^");
		return;
	}
	buf_addstr(&t->out, negated ? "[^" : "[");
	if (set[']'])
		buf_addch(&t->out, ']');
	for (i = 1; i < 128; i++)
		if (set[i] && i != ']' && !strchr(last, i))
			buf_addch(&t->out, (char)i);
	for (i = 0; last[i]; i++)
		if (set[(int)last[i]])
			buf_addch(&t->out, last[i]);
	buf_addch(&t->out, ']');
}

static int bracket(struct trans *t)
{
	bool set[128] = { false }, negated = false, first = true;
	int lo, hi, k;

	t->p++;
	if (*t->p == '^') {
		negated = true;
		t->p++;
	}
	for (; *t->p && (first || *t->p != ']'); first = false) {
		k = bracket_char(t, set, &lo);
		if (k < 0)
			return -1;
		if (k)
			continue;
		hi = lo;
		if (t->p[0] == '-' && t->p[1] && t->p[1] != ']') {
			t->p++;
			if (bracket_char(t, set, &hi) || hi < lo)
				return bad(t, "bad character range inside []");
		}
		for (; lo <= hi; lo++)
			set[lo] = true;
	}
	if (*t->p != ']')
		return bad(t, "a '[' without ']'");
	t->p++;
	t->last = 1;
	bracket_write(t, set, negated);
	return 0;
}

static int group_open(struct trans *t)
{
	const char *end;

	t->p++;
	if (*t->p == '?') {
		t->p++;
		if (*t->p == ':') {
			t->p++;
		} else if (*t->p == 'P' && t->p[1] == '<') {
			end = strchr(t->p, '>');
			if (!end)
				return bad(t, "a group name without '>'");
			t->p = end + 1;
		} else if (*t->p == '=' || *t->p == '!' ||
			   (*t->p == '<' && t->p[1] &&
			    strchr("=!", t->p[1]))) {
			return bad(t, "look-around is supported "
				   "only as ^(?!…) or ^(?=…) in front");
		} else {
			return bad(t, "this kind of (?…) group is not "
				   "supported");
		}
	}
	if (++t->depth >= GROUPS)
		return bad(t, "groups are nested too deep");
	t->weight[t->depth] = 1;
	t->last = 0;
	buf_addch(&t->out, '(');
	return 0;
}

static int group_close(struct trans *t)
{
	if (!t->depth)
		return bad(t, "a ')' without '('");
	t->last = t->weight[t->depth--];
	t->p++;
	buf_addch(&t->out, ')');
	return 0;
}

/* {n}, {n,}, {n,m}: the larger number, 0 for a '{' that is a character. */
static long counted(const char *p, const char **end)
{
	char *stop;
	long lo = 0, hi;

	p++;
	if (!isdigit((unsigned char)*p) && *p != ',')
		return 0;
	if (*p != ',') {
		lo = strtol(p, &stop, 10);
		p = stop;
	}
	hi = lo;
	if (*p == ',') {
		p++;
		if (isdigit((unsigned char)*p)) {
			hi = strtol(p, &stop, 10);
			p = stop;
		}
	}
	if (*p != '}')
		return 0;
	*end = p + 1;
	if (lo > PYRE_REPEAT || hi > PYRE_REPEAT)
		return PYRE_REPEAT + 1;
	return hi > lo ? hi : lo ? lo : 1;
}

static int quantifier(struct trans *t)
{
	const char *end = t->p + 1;
	long n = 1;

	if (*t->p == '{') {
		n = counted(t->p, &end);
		if (!n) {
			literal(t, '{');
			t->p++;
			t->last = 1;
			return 0;
		}
	}
	if (!t->last)
		return bad(t, "nothing to repeat");
	if (n * t->last > PYRE_REPEAT)
		return bad(t, "repeats multiply beyond 1000");
	n *= t->last;
	t->total += n > 1 ? n : 0;
	if (t->total > PYRE_TOTAL)
		return bad(t, "repeats add up to more than 4000");
	if (n > t->weight[t->depth])
		t->weight[t->depth] = n;
	if (t->p[0] == '{' && t->p[1] == ',')
		buf_addf(&t->out, "{0%.*s", (int)(end - t->p - 1), t->p + 1);
	else
		buf_add(&t->out, t->p, (size_t)(end - t->p));
	t->p = end;
	t->last = 0;
	/* Whether a match exists does not depend on greed. */
	if (*t->p == '?')
		t->p++;
	else if (*t->p == '+')
		return bad(t, "possessive quantifiers are not supported");
	else if (*t->p && strchr("*{", *t->p) &&
		 (*t->p == '*' || counted(t->p, &end)))
		return bad(t, "a repeat of a repeat");
	return 0;
}

static int translate(struct trans *t)
{
	int rc;

	while (*t->p) {
		switch (*t->p) {
		case '\\':
			rc = escape(t);
			break;
		case '[':
			rc = bracket(t);
			break;
		case '(':
			rc = group_open(t);
			break;
		case ')':
			rc = group_close(t);
			break;
		case '*': case '+': case '?': case '{':
			rc = quantifier(t);
			break;
		case '|': case '^': case '$':
			buf_addch(&t->out, *t->p++);
			t->last = 0;
			rc = 0;
			break;
		case ']': case '}':
			literal(t, *t->p++);
			t->last = 1;
			rc = 0;
			break;
		default:
			buf_addch(&t->out, *t->p++);
			t->last = 1;
			rc = 0;
			break;
		}
		if (rc < 0)
			return rc;
	}
	return t->depth ? bad(t, "a '(' without ')'") : 0;
}

/* One pattern without look-ahead, or part of one, held at the start. */
static int compile(regex_t *re, const char *pattern, size_t n, bool anchored,
		   bool icase, struct err *e)
{
	char *copy = xstrndup(pattern, n);
	struct trans t = {
		.p = copy, .out = BUF_INIT, .e = e, .weight = { 1 },
		.icase = icase,
	};
	char why[128];
	int rc;

	if (anchored)
		buf_addstr(&t.out, "^(");
	rc = translate(&t);
	if (!rc) {
		if (anchored)
			buf_addch(&t.out, ')');
		rc = regcomp(re, t.out.p, REG_EXTENDED | REG_NOSUB |
			     (t.icase ? REG_ICASE : 0));
		if (rc) {
			regerror(rc, re, why, sizeof(why));
			rc = err_set(e, EX_BADUSE, "%s", why);
		}
	}
	buf_release(&t.out);
	free(copy);
	return rc;
}

/* Bytes of the group at p, its parentheses included; 0: not closed. */
static size_t group_len(const char *p)
{
	const char *from = p;
	bool set = false;
	int depth = 0;

	for (; *p; p++) {
		if (*p == '\\') {
			if (!*++p)
				return 0;
		} else if (set) {
			set = *p != ']';
		} else if (*p == '[') {
			set = true;
			p += p[1] == '^';
			p += p[1] == ']';
		} else if (*p == '(') {
			depth++;
		} else if (*p == ')' && !--depth) {
			return (size_t)(p - from) + 1;
		}
	}
	return 0;
}

/* Whether '|' stands outside all groups. */
static bool alternates(const char *p)
{
	size_t n;

	for (; *p; p++) {
		n = *p == '(' ? group_len(p) : 0;
		if (*p == '\\' && p[1])
			p++;
		else if (n)
			p += n - 1;
		else if (*p == '|')
			return true;
	}
	return false;
}

static bool is_ahead(const char *p)
{
	return p[0] == '(' && p[1] == '?' && (p[2] == '!' || p[2] == '=');
}

/* ^(?!a)(?=b)rest: each condition apart, since all hold at the start. */
static int compile_ahead(struct pyre *p, const char *s, bool icase,
			 struct err *e)
{
	size_t n;

	while (is_ahead(s)) {
		n = group_len(s);
		if (!n)
			return err_set(e, EX_BADUSE, "a '(' without ')'");
		if (p->nahead == PYRE_AHEAD)
			return err_set(e, EX_BADUSE, "too many look-aheads");
		p->wanted[p->nahead] = s[2] == '=';
		if (compile(&p->ahead[p->nahead], s + 3, n - 4, true, icase, e))
			return -1;
		p->nahead++;
		s += n;
	}
	if (*s && strchr("*+?{", *s))
		return err_set(e, EX_BADUSE, "a look-ahead can't be repeated");
	if (alternates(s))
		return err_set(e, EX_BADUSE, "a look-ahead and a '|' outside "
			       "all groups");
	return compile(&p->re, s, strlen(s), true, icase, e);
}

static void release_ahead(struct pyre *p)
{
	while (p->nahead)
		regfree(&p->ahead[--p->nahead]);
}

int pyre_compile(struct pyre *p, const char *pattern, struct err *e)
{
	bool icase = !strncmp(pattern, "(?i)", 4);
	const char *s = pattern + (icase ? 4 : 0);
	int rc;

	memset(p, 0, sizeof(*p));
	if (!*s) {
		p->any = true;
		return 0;
	}
	if (strlen(s) > PYRE_MAX)
		return err_set(e, EX_BADUSE, "it is longer than %d bytes",
			       PYRE_MAX);
	if (*s == '^' && is_ahead(s + 1))
		rc = compile_ahead(p, s + 1, icase, e);
	else
		rc = compile(&p->re, s, strlen(s), false, icase, e);
	if (rc)
		release_ahead(p);
	return rc;
}

bool pyre_search(const struct pyre *p, const char *subject)
{
	size_t i;

	for (i = 0; i < p->nahead; i++)
		if (!regexec(&p->ahead[i], subject, 0, NULL, 0) !=
		    p->wanted[i])
			return false;
	return p->any || !regexec(&p->re, subject, 0, NULL, 0);
}

void pyre_release(struct pyre *p)
{
	release_ahead(p);
	if (!p->any)
		regfree(&p->re);
	memset(p, 0, sizeof(*p));
}

int pyre_check(const char *pattern, struct err *e)
{
	struct pyre p;

	if (pyre_compile(&p, pattern, e) < 0)
		return -1;
	pyre_release(&p);
	return 0;
}
