// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace larder::exec {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

}  // namespace

Result<MappedMemory> MappedMemory::map(std::size_t bytes, const char* what) {
  MappedMemory memory;
  if (bytes == 0) return memory;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                          -1, 0);
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

void MappedMemory::give_back(std::size_t offset, std::size_t length) const {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t first = (offset + page - 1) / page * page;
  const std::size_t end = (offset + length) / page * page;
  // Refused, it stays taken until it is written again.
  if (first < end) static_cast<void>(madvise(data_ + first, end - first, MADV_DONTNEED));
}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace larder::exec
