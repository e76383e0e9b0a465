/*
 * Which ops autocast touches on this device: PyTorch's own lists.
 */
#include "refdev.h"

#include <ATen/autocast_mode.h>

namespace {

using namespace at;

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m)
{
	m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m)
{
#define LOWER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define UPPER(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define UPPER_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define WIDEST(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
	AT_FORALL_LOWER_PRECISION_FP(LOWER)
	AT_FORALL_FP32(UPPER)
	AT_FORALL_FP32_SET_OPT_DTYPE(UPPER_DTYPE)
	AT_FORALL_PROMOTE(WIDEST)
	AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(
	    KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
#undef LOWER
#undef UPPER
#undef UPPER_DTYPE
#undef WIDEST
}

}
