// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/mapped_memory.h"

#include <sys/mman.h>

#include <string>

namespace larder::exec {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

}  // namespace

Result<MappedMemory> MappedMemory::map(std::size_t bytes, const char* what) {
  MappedMemory memory;
  if (bytes == 0) return memory;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return Error{ErrorCode::kResourceExhausted, "the system gives no " + std::to_string(bytes >> 20) + " MiB for " +
                                                    what + "; lower the pool's size", ""};
  }
  // Advice only: where it is refused, ordinary pages serve.
  if (bytes >= 4 * kHugePageBytes) static_cast<void>(madvise(data, bytes, MADV_HUGEPAGE));
  memory.data_ = static_cast<std::byte*>(data);
  memory.bytes_ = bytes;
  return memory;
}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace larder::exec
