// What the shim's C++ files share: the handle, and the wall that keeps
// exceptions on this side.
#pragma once

#include <torch/csrc/python_headers.h>
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/operator_name.h>
#include <exception>
#include <string>
#include "cts_torch.h"

struct ctt_tensor {
	at::Tensor t;
};

namespace ctt_detail {

void set_error(const char *what, const char *type) noexcept;

inline ctt_tensor *wrap(at::Tensor t)
{
	return new ctt_tensor{std::move(t)};
}

// Fill t, which is dense, with the pattern that stands where no data does.
void fill_pattern(at::Tensor &t);

// t's elements where they can be looked at, or an exception.
at::Tensor to_host(const at::Tensor &t);

// "aten::add.Tensor"
inline std::string full_name(const c10::OperatorName &n)
{
	return n.overload_name.empty() ? n.name :
		n.name + "." + n.overload_name;
}

// Run body; 0, or -1 with the message and type kept for ctt_api.error().
template <typename F> int guarded(F &&body) noexcept
{
	try {
		body();
		return 0;
	} catch (const c10::NotImplementedError &e) {
		set_error(e.what_without_backtrace(), "NotImplementedError");
	} catch (const c10::OutOfMemoryError &e) {
		set_error(e.what_without_backtrace(), "OutOfMemoryError");
	} catch (const c10::Error &e) {
		set_error(e.what_without_backtrace(), "RuntimeError");
	} catch (const std::exception &e) {
		set_error(e.what(), "RuntimeError");
	} catch (...) {
		set_error("unknown C++ exception", "RuntimeError");
	}
	return -1;
}

} // namespace ctt_detail

// The parts of the table that other files define.
int ctt_body_of(ctt t, ctt_body *b);
int ctt_storage_of(const void *p, size_t n, ctt *ret_t);
int ctt_build(const ctt_meta *m, const ctt_body *b, ctt *ret_t);
int ctt_lay_tensor(ctt src, const ctt_lay *lay, ctt *ret_t, bool *applied);
int ctt_copier_new(const char *device, int flags, ctt_copier *ret_c);
int ctt_copier_tensor(ctt_copier c, ctt src, int input, ctt *ret_t);
int ctt_copier_changes(ctt_copier c,
		       void (*fn)(void *, const ctt_change *), void *ctx);
int ctt_copier_follow(ctt_copier c, const ctt *outs, size_t n, bool *follow);
int ctt_copier_lead(ctt_copier c, const ctt *outs, size_t n,
		    ctt_lead *lead);
int64_t ctt_copier_bytes(ctt_copier c);
void ctt_copier_free(ctt_copier c);
int ctt_trace_begin(const char *device);
int ctt_trace_end(void (*fn)(void *, const char *, const char *), void *ctx);
int ctt_overloads(const char *device,
		  void (*fn)(void *, const ctt_overload *), void *ctx);
const void *ctt_overload_find(const char *name);
void *ctt_boxed_call(const void *overload, void *args, void *kwargs);
void ctt_zero_memory(bool on);
int ctt_record_begin(const char *only);
void *ctt_record_end();
