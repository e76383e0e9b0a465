#include "vocab.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const char *const outcomes[] = {
	"pass", "fail", "error", "unsupported", "crash", "timeout", "hang",
	"oom", "missing", "duplicate",
};
_Static_assert(N(outcomes) == OUT_N, "a name for every outcome");

const char *outcome_name(enum outcome o)
{
	return outcomes[o];
}

int outcome_find(const char *name)
{
	int i;

	for (i = 0; i < OUT_N; i++)
		if (!strcmp(name, outcomes[i]))
			return i;
	return -1;
}

static const struct account_reason reasons[] = {
	{ "dtype_not_supported",
	  "the manifest says that the device does not have this dtype" },
	{ "dtype_regex_filtered",
	  "the manifest claims this dtype for some ops, and not for this one" },
	{ "dtype_not_listed",
	  "the manifest says nothing of this dtype" },
	{ "capability_not_declared",
	  "the case needs a capability that the manifest does not claim" },
	{ "capability_regex_filtered",
	  "the manifest claims the capability for some ops, not for this one" },
	{ "op_not_listed",
	  "the manifest lists the ops that the device has, without this one" },
	{ "op_excluded",
	  "the manifest excludes this op by name" },
	{ "level_filtered",
	  "the case belongs to a level that was not asked for" },
	{ "deselected",
	  "the command line selected other cases" },
	{ "sharded",
	  "the case belongs to another shard of this run" },
	{ "resource_limit",
	  "the case needs more memory than the limits allow" },
	{ "device_count",
	  "the case needs more devices than there are" },
	{ "container_format",
	  "the manifest does not claim the container format that the case "
	  "needs, or names no decoder for it" },
	{ "runtime_unavailable",
	  "something that the case needs is not installed here" },
	{ "torch_version",
	  "the installed PyTorch does not have what the case tests" },
	{ "cpu_contract",
	  "PyTorch's own CPU does not support this, so nothing is promised" },
	{ "undefined",
	  "PyTorch leaves the result undefined, so no answer is wrong" },
	{ "no_samples",
	  "no input could be made for the case" },
	{ "not_applicable",
	  "the variant means nothing for this op" },
	{ "no_oracle",
	  "there is no way to know the right answer" },
	{ "known_crash",
	  "a ledger of crashes keeps the case from running" },
};

const struct account_reason *account_reason_at(size_t i)
{
	return i < N(reasons) ? &reasons[i] : NULL;
}

const struct account_reason *account_reason_find(const char *name)
{
	size_t i;

	for (i = 0; i < N(reasons); i++)
		if (!strcmp(name, reasons[i].name))
			return &reasons[i];
	return NULL;
}

static const struct capability capabilities[] = {
	{ "inference", "forward computation gives the right values" },
	{ "training", "gradients are computed and parameters updated" },
	{ "serialization", "tensors and modules survive save and load" },
	{ "compile", "torch.compile produces the eager results" },
	{ "rng", "random numbers are drawn on the device and can be seeded" },
	{ "device_generator", "the device has a torch.Generator of its own" },
	{ "rng_distributions", "random draws follow the distribution asked "
	  "for" },
	{ "double_backward", "a gradient can itself be differentiated" },
	{ "gradcheck", "analytic gradients agree with finite differences" },
	{ "gradient_checkpointing", "recomputed activations give the same "
	  "gradients, random state included" },
	{ "autocast", "torch.autocast picks the dtypes that it promises" },
	{ "fused_optimizer", "optimizers with fused=True agree with the plain "
	  "ones" },
	{ "dataloader", "batches from a DataLoader reach the device intact" },
	{ "module_hooks", "forward and backward hooks run, in order, once" },
	{ "channels_last", "channels-last memory formats are kept and right" },
	{ "sparse", "sparse COO and compressed layouts work" },
	{ "nested", "nested (jagged) tensors work" },
	{ "named_tensor", "dimension names are carried along" },
	{ "foreach", "list-of-tensor operations agree with a loop over them" },
	{ "fp8", "eight-bit floats convert and compute" },
	{ "quantized_container_plumbing", "quantized tensors can be stored, "
	  "moved and looked into" },
	{ "native_quantization", "quantized arithmetic runs on the device" },
	{ "custom_quantized_decode", "the backend's own quantized formats can "
	  "be decoded for comparison" },
	{ "pinned_memory", "page-locked host memory can be had and copied "
	  "from" },
	{ "streams", "work can be queued on several streams" },
	{ "events", "events order, time and wait for work" },
	{ "deterministic", "the same call gives the same bits every time" },
	{ "guard_alloc", "the allocator can show accesses outside of a block" },
	{ "device_api", "the device module has the functions that PyTorch "
	  "expects of one" },
	{ "multi_device", "more than one device can be used in a process" },
	{ "ieee754", "NaN, infinities, signed zeros and subnormals behave as "
	  "in IEEE 754" },
};

const struct capability *capability_at(size_t i)
{
	return i < N(capabilities) ? &capabilities[i] : NULL;
}

const struct capability *capability_find(const char *name)
{
	size_t i;

	for (i = 0; i < N(capabilities); i++)
		if (!strcmp(name, capabilities[i].name))
			return &capabilities[i];
	return NULL;
}

int memory_mode_find(const char *name)
{
	static const char *const modes[] = {
		"conservative", "synchronize", "balanced", "performance",
	};
	int i;

	_Static_assert(N(modes) == MEMORY_N, "a name for every mode");
	for (i = 0; i < MEMORY_N; i++)
		if (!strcmp(name, modes[i]))
			return i;
	return -1;
}

static const char *const levels[] = {
	"core primitives: what everything else stands on",
	"normal use: ops give the right values on ordinary inputs",
	"mutation, aliasing, random numbers and metadata",
	"training, and whole families of ops",
	"advanced numerics, layouts, sparse and nested tensors",
	"compiler, device API and allocator",
	"workloads and several devices",
	"stress and adversarial inputs",
};

const char *level_text(int level)
{
	return level >= 1 && level <= (int)N(levels) ? levels[level - 1] :
	       "no such level";
}

#define WORD_MAX 48

/*
 * Insertions, deletions, changes and swaps of neighbours that lead from a to b;
 * WORD_MAX where either is over-long.
 */
static size_t distance(const char *a, const char *b)
{
	size_t la = strnlen(a, WORD_MAX), lb = strnlen(b, WORD_MAX);
	size_t row[3][WORD_MAX + 1], *prev2 = row[0], *prev = row[1];
	size_t *cur = row[2], *t, i, j, d;

	if (la == WORD_MAX || lb == WORD_MAX)
		return WORD_MAX;
	for (j = 0; j <= lb; j++)
		prev[j] = prev2[j] = j;
	for (i = 1; i <= la; i++) {
		cur[0] = i;
		for (j = 1; j <= lb; j++) {
			d = prev[j - 1] + (a[i - 1] != b[j - 1]);
			if (prev[j] + 1 < d)
				d = prev[j] + 1;
			if (cur[j - 1] + 1 < d)
				d = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && prev2[j - 2] + 1 < d)
				d = prev2[j - 2] + 1;
			cur[j] = d;
		}
		t = prev2;
		prev2 = prev;
		prev = cur;
		cur = t;
	}
	return prev[lb];
}

/* "train" of "training", "float4" of "float4_e2m1fn_x2", "NF4" of "nf4". */
static const char *obvious(const char *word, const char *const *names)
{
	size_t len = strnlen(word, WORD_MAX);
	const char *found = NULL;

	for (; *names; names++) {
		if (!strcasecmp(word, *names))
			return *names;
		if (len > 3 && !strncmp(word, *names, len) &&
		    (len > 4 || (*names)[len] == '_')) {
			if (found)
				return NULL;	/* which? */
			found = *names;
		}
	}
	return found;
}

const char *vocab_nearest(const char *word, const char *const *names)
{
	size_t len = strnlen(word, WORD_MAX), best = WORD_MAX, d;
	const char *found = obvious(word, names);

	if (found)
		return found;
	for (; *names; names++) {
		d = distance(word, *names);
		if (d < best) {
			best = d;
			found = *names;
		}
	}
	/* A slip: one change in a short word, a third of a longer one. */
	return best <= (len < 6 ? 1 : len / 3) ? found : NULL;
}
