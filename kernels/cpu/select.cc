// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "kernels/cpu/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace larder::kernels {

#if defined(__x86_64__)
namespace {

struct Cpuid {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

Cpuid cpuid(unsigned leaf, unsigned subleaf = 0) {
  Cpuid r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool has(unsigned reg, int bit) { return ((reg >> bit) & 1u) != 0; }

// Register states that the operating system saves. Requires: OSXSAVE.
unsigned saved_states() {
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

// Source: Intel SDM volume 1, chapters 14.3 (AVX), 14.7.1 (AVX2) and 15.2 (AVX-512): bit numbers, states 0x6 and 0xe6.
// AVX-512 VNNI is bit 11 of ECX of leaf 7; AVX-VNNI bit 4 of EAX of its
// subleaf 1.
CpuFeatures cpu_features() {
  const Cpuid one = cpuid(1);
  const Cpuid seven = cpuid(7);
  if (!has(one.ecx, 27)) return {};
  const unsigned states = saved_states();
  const bool fma_f16c = has(one.ecx, 12) && has(one.ecx, 28) && has(one.ecx, 29);
  CpuFeatures features;
  features.avx2 = fma_f16c && has(seven.ebx, 5) && (states & 0x6u) == 0x6u;
  features.avx512 = features.avx2 && has(seven.ebx, 16) && has(seven.ebx, 17) && has(seven.ebx, 30) &&
                    has(seven.ebx, 31) && (states & 0xe6u) == 0xe6u;
  features.avxvnni = features.avx2 && has(cpuid(7, 1).eax, 4);
  features.avx512vnni = features.avx512 && has(seven.ecx, 11);
  return features;
}

const KernelSet* select_kernels_for(IsaRequest request, const CpuFeatures& features) {
  switch (request) {
    case IsaRequest::kAuto:
      if (features.avx512) return &kAvx512Kernels;
      return features.avx2 ? &kAvx2Kernels : &kPortableKernels;
    case IsaRequest::kPortable: return &kPortableKernels;
    case IsaRequest::kAvx2: return features.avx2 ? &kAvx2Kernels : nullptr;
    case IsaRequest::kAvx512: return features.avx512 ? &kAvx512Kernels : nullptr;
  }
  return nullptr;
}

const Int8Kernels* select_int8_kernels_for(IsaRequest request, const CpuFeatures& features) {
  const bool newest = request == IsaRequest::kAuto || request == IsaRequest::kAvx512;
  if (newest && features.avx512vnni) return &kAvx512VnniInt8;
  if (request == IsaRequest::kAuto && features.avxvnni) return &kAvxVnniInt8;
  return (newest || request == IsaRequest::kAvx2) && features.avx2 ? &kAvx2Int8 : nullptr;
}

#else

CpuFeatures cpu_features() { return {}; }

const KernelSet* select_kernels_for(IsaRequest request, const CpuFeatures&) {
  return request == IsaRequest::kAuto || request == IsaRequest::kPortable ? &kPortableKernels : nullptr;
}

const Int8Kernels* select_int8_kernels_for(IsaRequest, const CpuFeatures&) { return nullptr; }

#endif

const KernelSet* select_kernels(IsaRequest request) { return select_kernels_for(request, cpu_features()); }

const Int8Kernels* select_int8_kernels(IsaRequest request) { return select_int8_kernels_for(request, cpu_features()); }

namespace {

struct Name {
  std::array<char, 49> text{};
};

Name read_name() {
  Name name;
#if defined(__x86_64__)
  // Source: Intel SDM volume 2, CPUID leaves 0x80000002 to 0x80000004: 48 bytes of name.
  for (unsigned i = 0; i < 3; ++i) {
    const Cpuid part = cpuid(0x80000002u + i);
    std::memcpy(name.text.data() + 16 * i, &part, sizeof part);
  }
#endif
  if (name.text[0] == '\0') std::memcpy(name.text.data(), "unknown processor", 18);
  return name;
}

}  // namespace

const char* processor_name() {
  static const Name name = read_name();
  return name.text.data();
}

}  // namespace larder::kernels
