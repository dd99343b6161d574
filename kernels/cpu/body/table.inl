// SPDX-License-Identifier: Apache-2.0
// The order in which a tier's bodies are read, and its table. Included last in each isa_*.cc.

constexpr std::size_t kParts = 16 / kRegLanes;

#include "kernels/cpu/body/elementwise.inl"
#include "kernels/cpu/body/decode_k.inl"
#include "kernels/cpu/body/decode.inl"
#include "kernels/cpu/body/tile.inl"
#include "kernels/cpu/body/matmul.inl"
#include "kernels/cpu/body/attention.inl"
#include "kernels/cpu/body/kv_codec.inl"

constexpr KernelSet make_kernel_set(const char* name) {
  return {name,      16,        kArithmeticVersion, &matmul,   &dequantise_row,       &rms_norm,
          &rope,     &silu_mul, &gelu_mul,          &add_rows, &scale_row,            &kv_write,
          &attention, &matmul_scratch_bytes, &attention_scratch_bytes, {&kv_encode, &kv_decode}};
}
