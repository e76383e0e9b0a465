/* vocab: every word is found again, and slips of the pen are. */
#include "tap.h"
#include "vocab.h"

/* Lower-case letters, digits and _, as every word of ours is. */
static bool is_word(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789")];
}

static void test_lists(void)
{
	const struct account_reason *r;
	const struct capability *c;
	size_t i, bad = 0;

	for (i = 0; i < OUT_N; i++)
		bad += outcome_find(outcome_name((enum outcome)i)) != (int)i;
	is_int(bad, 0, "every outcome is found by its name");
	is_int(outcome_find("PASS"), -1, "no other is");
	for (i = 0; (r = account_reason_at(i)); i++)
		bad += account_reason_find(r->name) != r ||
		       !is_word(r->name) || strlen(r->text) < 20;
	ok(!bad && i >= 10, "every reason is found, and says what it means");
	ok(!account_reason_find("because"), "no other is");
	for (i = 0; (c = capability_at(i)); i++)
		bad += capability_find(c->name) != c || !is_word(c->name) ||
		       strlen(c->text) < 20;
	ok(!bad, "every capability is found, and says what it means");
	is_int(i, 31, "there are so many");
	ok(!capability_find("generator"), "a stale name is none");
	is_str(capability_at(0)->name, "inference", "in the documented order");
	for (i = 1; i <= 8; i++)
		bad += strlen(level_text((int)i)) < 10;
	is_int(bad, 0, "every level says what it means");
	is_str(level_text(0), "no such level", "there is no level 0");
	is_str(level_text(9), "no such level", "and no level 9");
}

static void test_nearest(void)
{
	static const char *const names[] = {
		"float32", "float64", "int8", "semantic_level", "compile", NULL,
	};
	char longer[200];

	is_str(vocab_nearest("flaot32", names), "float32", "a swap");
	is_str(vocab_nearest("float3", names), "float32", "a letter less");
	is_str(vocab_nearest("semanticlevel", names), "semantic_level",
	       "an underscore less");
	is_str(vocab_nearest("in8", names), "int8", "a short one");
	is_str(vocab_nearest("compile", names), "compile", "the word itself");
	ok(!vocab_nearest("serialization", names), "nothing near");
	ok(!vocab_nearest("", names), "nothing is near nothing");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ok(!vocab_nearest(longer, names), "a long one");
	ok(!vocab_nearest("x", names + 5), "no names");
}

int main(void)
{
	test_lists();
	test_nearest();
	return done();
}
