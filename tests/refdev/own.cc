/*
 * Ops that PyTorch asks of other devices and not of the CPU: these run on the
 * CPU tensors that stand for the device's, like the CPU's own kernels do.
 */
#include "refdev.h"

#include <ATen/native/DispatchStub.h>
#include <ATen/native/transformers/attention.h>

#include <map>

namespace refdev {
namespace {

using at::Tensor;
using c10::KernelFunction;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
using Nine = std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t, int64_t,
    Tensor, Tensor, Tensor>;

Tensor copy_from(const Tensor &self, const Tensor &dst, bool)
{
	dst.copy_(self);
	return dst;
}

Tensor copy_from_and_resize(const Tensor &self, const Tensor &dst)
{
	dst.resize_(self.sizes());
	dst.copy_(self);
	return dst;
}

Nine attention(const Tensor &q, const Tensor &k, const Tensor &v,
    const optional<Tensor> &mask, double dropout, bool causal, bool,
    optional<double> scale)
{
	auto r = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v,
	    dropout, causal, mask, scale);
	Tensor seed = at::zeros({1}, at::kLong);

	return Nine(std::get<0>(r), std::get<1>(r), Tensor(), Tensor(),
	    q.size(2), k.size(2), seed, seed.clone(), Tensor());
}

Four attention_backward(const Tensor &grad, const Tensor &q, const Tensor &k,
    const Tensor &v, const Tensor &mask, std::array<bool, 4>,
    const Tensor &out, const Tensor &lse, const Tensor &, const Tensor &,
    int64_t, int64_t, double dropout, bool causal, const Tensor &,
    const Tensor &, optional<double> scale)
{
	auto r = at::_scaled_dot_product_flash_attention_for_cpu_backward(grad,
	    q, k, v, out, lse, dropout, causal,
	    mask.defined() ? optional<Tensor>(mask) : std::nullopt, scale);

	return Four(std::get<0>(r), std::get<1>(r), std::get<2>(r), Tensor());
}

Tensor plus(const Tensor &a, const optional<Tensor> &b)
{
	return b && b->defined() ? a + *b : a;
}

Tensor or_zero(const optional<Tensor> &t, const Tensor &like)
{
	return t && t->defined() ? *t : at::zeros_like(like);
}

Three lstm_cell(const Tensor &igates, const Tensor &hgates, const Tensor &cx,
    const optional<Tensor> &bi, const optional<Tensor> &bh)
{
	auto g = plus(plus(igates + hgates, bi), bh).chunk(4, 1);
	Tensor in = g[0].sigmoid(), forget = g[1].sigmoid();
	Tensor cell = g[2].tanh(), out = g[3].sigmoid();
	Tensor cy = forget * cx + in * cell;

	return Three(out * cy.tanh(), cy, at::cat({in, forget, cell, out}, 1));
}

Three lstm_cell_backward(const optional<Tensor> &ghy,
    const optional<Tensor> &gcy, const Tensor &cx, const Tensor &cy,
    const Tensor &workspace, bool has_bias)
{
	auto w = workspace.chunk(4, 1);
	Tensor in = w[0], forget = w[1], cell = w[2], out = w[3];
	Tensor gh = or_zero(ghy, cy), t = cy.tanh();
	Tensor gc = gh * out * (1 - t * t) + or_zero(gcy, cy);
	Tensor gates = at::cat({gc * cell * in * (1 - in),
	    gc * cx * forget * (1 - forget), gc * in * (1 - cell * cell),
	    gh * t * out * (1 - out)}, 1);

	return Three(gates, gc * forget, has_bias ? gates.sum(0) : Tensor());
}

Two gru_cell(const Tensor &igates, const Tensor &hgates, const Tensor &hx,
    const optional<Tensor> &bi, const optional<Tensor> &bh)
{
	auto i = plus(igates, bi).chunk(3, 1);
	auto h = plus(hgates, bh).chunk(3, 1);
	Tensor reset = (i[0] + h[0]).sigmoid();
	Tensor update = (i[1] + h[1]).sigmoid();
	Tensor fresh = (i[2] + reset * h[2]).tanh();

	return Two((hx - fresh) * update + fresh,
	    at::cat({reset, update, fresh, hx, h[2]}, 1));
}

Five gru_cell_backward(const Tensor &g, const Tensor &workspace, bool has_bias)
{
	auto w = workspace.chunk(5, 1);
	Tensor reset = w[0], update = w[1], fresh = w[2], hx = w[3], h = w[4];
	Tensor gn = g * (1 - update) * (1 - fresh * fresh);
	Tensor gz = g * (hx - fresh) * update * (1 - update);
	Tensor gr = gn * h * reset * (1 - reset);
	Tensor gi = at::cat({gr, gz, gn}, 1);
	Tensor gh = at::cat({gr, gz, gn * reset}, 1);

	return Five(gi, gh, g * update, has_bias ? gi.sum(0) : Tensor(),
	    has_bias ? gh.sum(0) : Tensor());
}

const std::map<std::string, KernelFunction> &table()
{
#define K(f) KernelFunction::makeFromUnboxedRuntimeFunction(f)
	static const auto *t = new std::map<std::string, KernelFunction>{
		{"aten::_copy_from", K(copy_from)},
		{"aten::_copy_from_and_resize", K(copy_from_and_resize)},
		{"aten::_scaled_dot_product_fused_attention_overrideable",
		    K(attention)},
		{"aten::_scaled_dot_product_fused_attention_overrideable_"
		 "backward", K(attention_backward)},
		{"aten::_thnn_fused_lstm_cell", K(lstm_cell)},
		{"aten::_thnn_fused_lstm_cell_backward_impl",
		    K(lstm_cell_backward)},
		{"aten::_thnn_fused_gru_cell", K(gru_cell)},
		{"aten::_thnn_fused_gru_cell_backward", K(gru_cell_backward)},
	};
#undef K
	return *t;
}

}

const KernelFunction *own_for(const c10::OperatorName &name)
{
	auto it = table().find(c10::toString(name));

	return it == table().end() ? nullptr : &it->second;
}

}

namespace at::native {
namespace {

/* What the CPU calls flash attention is overrideable elsewhere. */
constexpr int64_t FLASH = 1, OVERRIDEABLE = 4;

int64_t choose(const Tensor &q, const Tensor &k, const Tensor &v,
    const std::optional<Tensor> &mask, double dropout, bool causal,
    std::optional<double> scale, bool gqa)
{
	int64_t c = at::_fused_sdp_choice(q, k, v, mask, dropout, causal,
	    scale, gqa);

	return c == FLASH ? OVERRIDEABLE : c;
}

REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &choose)

}
}
