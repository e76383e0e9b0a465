/*
 * cts_torch: libtorch behind a C11 header.
 *
 * No C++ and no exception crosses it.  Every function returns 0, or -1 with
 * ctt_error() saying why.  Tensors are opaque; a "ret_" parameter gives a new
 * handle that the caller passes to ctt_free().  The shim is a shared object
 * that the caller loads after "import torch", so that the tools need no
 * libtorch to start: ctt_open() gives the table of functions.
 */
#ifndef CTS_TORCH_H
#define CTS_TORCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTT_ABI 8
#define CTT_MAX_DIM 64

typedef struct ctt_tensor *ctt;
typedef struct ctt_copying *ctt_copier;

enum ctt_layout {
	CTT_STRIDED, CTT_SPARSE_COO, CTT_SPARSE_CSR, CTT_SPARSE_CSC,
	CTT_SPARSE_BSR, CTT_SPARSE_BSC, CTT_MKLDNN, CTT_JAGGED,
	CTT_LAYOUT_OTHER,
};

struct ctt_meta {
	int scalar_type;		/* c10::ScalarType */
	int ndim;
	int64_t sizes[CTT_MAX_DIM];
	int64_t strides[CTT_MAX_DIM];	/* where has_strides */
	int64_t offset;			/* elements */
	int64_t numel;
	size_t itemsize;
	enum ctt_layout layout;
	bool has_strides;
	bool is_cpu;
	bool conj, neg, requires_grad, quantized, nested, zerotensor;
	const void *storage;		/* identity of the storage, or NULL */
	const void *impl;		/* identity of the tensor object */
	uint32_t version;		/* autograd version counter */
	char device[32];		/* "cpu", "refdev:0" */
};

/* One stretch of bytes that changed below a copied storage. */
struct ctt_change {
	int input;		/* the first tensor that was copied from it */
	bool inside;			/* within a view: a mutation */
	int64_t at;			/* element index in the storage */
	const char *where;	/* "before", "after", "gap", "" inside */
	bool whole;			/* of a tensor looked at as a whole */
};

/* How an operand is laid out anew, and what values are put into it. */
enum ctt_view {
	CTT_VIEW_AS_IS,
	CTT_VIEW_DENSE,			/* contiguous; with offset: moved */
	CTT_VIEW_TRANSPOSED,		/* last two dimensions */
	CTT_VIEW_STEPPED,		/* a gap behind each element */
	CTT_VIEW_EXPANDED,		/* stride 0; values repeat */
	CTT_VIEW_CHANNELS_LAST,		/* 4 or 5 dimensions */
	CTT_VIEW_CONJ,			/* the lazy bit; complex */
	CTT_VIEW_NEG,			/* the lazy bit */
	CTT_VIEW_REVERSED,		/* dimensions in opposite order */
};

enum ctt_values {
	CTT_VALUES_AS_IS,
	CTT_VALUES_SPECIAL,	/* NaN, infinities, subnormals, extremes */
	CTT_VALUES_NAN,		/* here and there NaN, and zeros */
	CTT_VALUES_INF,		/* here and there infinities, and zeros */
	CTT_VALUES_LONE_NAN,	/* zeros, and one NaN */
	CTT_VALUES_LONE_INF,	/* zeros, and one infinity */
	CTT_VALUES_WIDE,	/* integers beyond float32 and 32 bits */
	CTT_VALUES_LARGE,	/* floats beyond their significand */
	CTT_VALUES_OTHER,	/* floats: the others in reverse, halved */
	CTT_VALUES_REVERSED,	/* of any type: in reverse */
};

struct ctt_lay {
	enum ctt_view view;
	enum ctt_values values;
	int offset;		/* elements before the first */
	uint64_t seed;		/* places of special values */
};

enum ctt_copy_flags {
	CTT_COPY_GUARD = 1,		/* zones of a pattern after the data */
	CTT_COPY_HP = 2,		/* floats to float64, complex to 128 */
};

/* What a CPU tensor is made of, for a copy that is the same in every way. */
enum ctt_body_kind {
	CTT_BODY_STRIDED,	/* parts: none; bytes of its storage */
	CTT_BODY_COO,		/* indices, values */
	CTT_BODY_COMPRESSED,	/* compressed and plain indices, values */
	CTT_BODY_NESTED,	/* buffer, sizes, strides, offsets */
	CTT_BODY_OTHER,		/* nothing that could be taken apart */
};
struct ctt_body {
	enum ctt_body_kind kind;
	const void *storage;	/* its identity */
	const void *bytes;	/* of the storage; borrowed from the tensor */
	size_t nbytes;
	bool coalesced;		/* COO */
	int nparts;
	ctt parts[4];		/* new */
};

/* What a write to a result did to the inputs' memory. */
enum ctt_lead { CTT_LEAD_UNTRIED, CTT_LEAD_NOWHERE, CTT_LEAD_INPUT };

/* An overload of the dispatcher, for the inventory. */
struct ctt_overload {
	const char *name;		/* "aten::add.Tensor" */
	const char *schema;
	const char *kernel;		/* own, composite, composite_explicit,
					   fallback, none */
	const char *surface;		/* functional, inplace, out, view, … */
	const char *tags;		/* comma-separated */
};

struct ctt_api {
	int abi;
	const char *(*error)(void);	/* of this thread's last -1; borrowed */
	const char *(*error_type)(void);	/* Python's; borrowed */

	/* Between Python and handles; obj is a PyObject *. */
	bool (*is_tensor)(void *obj);
	int (*from_py)(void *obj, ctt *ret_t);
	int (*to_py)(ctt t, void **ret_obj);	/* new reference */
	void (*free)(ctt t);

	int (*meta)(ctt t, struct ctt_meta *m);

	/*
	 * The elements in logical order on the CPU, conj and neg resolved:
	 * ret_c owns the memory that *p points into.
	 */
	int (*read)(ctt t, ctt *ret_c, const void **p, size_t *n);

	/* Components of a sparse tensor; name is static; count or -1. */
	int (*parts)(ctt t, ctt ret_parts[3], const char *names[3]);

	/*
	 * Take a tensor apart, and make one of such parts: the same element
	 * type, geometry, layout and bits as m says.  m comes from a file: what
	 * would reach outside of its storage, or breaks what a sparse layout
	 * promises, is refused.  A strided one is a view of parts[0], which
	 * storage() made of n bytes.
	 */
	int (*body)(ctt t, struct ctt_body *b);
	int (*storage)(const void *p, size_t n, ctt *ret_t);
	int (*build)(const struct ctt_meta *m, const struct ctt_body *b,
		     ctt *ret_t);

	/*
	 * A CPU tensor of the same shape, laid out and filled as lay says; what
	 * lies around and between its elements is a pattern.  *applied: false
	 * where that makes no difference to such a tensor, or can't be done.
	 */
	int (*lay)(ctt src, const struct ctt_lay *lay, ctt *ret_t,
		   bool *applied);

	/*
	 * Copies tensors to a device so that what shared a storage still does,
	 * and sizes, strides and offsets are kept.  A device that shows no
	 * storage gets views where it makes them right, else a plain
	 * to(device).
	 */
	int (*copier_new)(const char *device, int flags, ctt_copier *ret_c);
	int (*copier_tensor)(ctt_copier c, ctt src, int input, ctt *ret_t);
	/* What changed since; calls fn for each stretch (first one a place). */
	int (*copier_changes)(ctt_copier c,
			      void (*fn)(void *ctx, const struct ctt_change *),
			      void *ctx);
	/*
	 * Flip every bit of what was copied (of a storage with all that lies
	 * around), see which of n dense tensors change with it, and put the
	 * bits back.
	 */
	int (*copier_follow)(ctt_copier c, const ctt *outs, size_t n,
			     bool *follow);
	/*
	 * The other way round: flip every bit of one of the tensors after the
	 * other, see whether what was copied changes, and put all back.  Of
	 * elements that share a place one is written; a tensor that can't be
	 * written to so is not tried.
	 */
	int (*copier_lead)(ctt_copier c, const ctt *outs, size_t n,
			   enum ctt_lead *lead);
	/* How large that is; -1: some input is not dense. */
	int64_t (*copier_bytes)(ctt_copier c);
	void (*copier_free)(ctt_copier c);

	/*
	 * The default generator of a device: -1 where PyTorch can't reach one.
	 * One state is remembered at a time; rng_moved says 1 where it is
	 * another since, 0 where not, -1 where nobody can tell.
	 */
	int (*seed)(const char *device, uint64_t seed);
	int (*rng_mark)(const char *device);
	int (*rng_moved)(const char *device);

	/*
	 * Record which overloads are called with tensors of that device (its
	 * type, no index) until trace_end(), which calls fn for each once.
	 * where is "device", "composite" or "fallback".
	 */
	int (*trace_begin)(const char *device);
	int (*trace_end)(void (*fn)(void *ctx, const char *overload,
				    const char *where), void *ctx);

	/* The whole dispatcher surface as seen from a device type. */
	int (*overloads)(const char *device,
			 void (*fn)(void *ctx, const struct ctt_overload *),
			 void *ctx);

	/* One of them by its name, "add.Tensor"; NULL: there is none. */
	const void *(*overload)(const char *name);

	/*
	 * Call it with a stack of values, as the dispatcher itself does.  args
	 * is a tuple, kwargs a dict or NULL: no Python code runs.  A new
	 * reference, or NULL with the exception set that PyTorch sets.
	 */
	void *(*boxed)(const void *overload, void *args, void *kwargs);

	/*
	 * Whether memory that the CPU's tensors get from now on is zero, rather
	 * than what the process did before: kernels read what nobody wrote (the
	 * pivots of linalg.lstsq in PyTorch 2.13).
	 */
	void (*zero_memory)(bool on);

	/*
	 * From here to record_end(), keep copies of what overloads are called
	 * with on the CPU, once each: those named "only", NULL: all.  Memory
	 * that is new in between is zero.
	 * record_end() gives a new list of (name, args, kwargs), or NULL with
	 * an exception set.
	 */
	int (*record_begin)(const char *only);
	void *(*record_end)(void);
};

/* The one exported symbol: NULL where abi is not CTT_ABI. */
const struct ctt_api *ctt_open(int abi);

#ifdef __cplusplus
}
#endif
#endif
