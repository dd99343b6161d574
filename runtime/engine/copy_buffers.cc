// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/copy_buffers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/kv/room_for.h"

namespace larder::engine {

CopyBuffers::Lent CopyBuffers::take(std::size_t bytes) {
  if (!has(bytes)) return nullptr;
  kv::room_for(kept_, lent_ + 1);
  const auto same = [bytes](const auto& each) { return each->size() == bytes; };
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), same);
  std::unique_ptr<Buffer> buffer;
  if (found != kept_.rend()) {
    buffer = std::move(*found);
    kept_.erase(std::next(found).base());
    bytes_kept_ -= bytes;
  } else {
    // Another model's blocks are of another size: their buffers make room.
    while (!kept_.empty() && bytes_lent_ + bytes_kept_ + bytes > kBytes) {
      bytes_kept_ -= kept_.front()->size();
      kept_.erase(kept_.begin());
    }
    buffer = std::make_unique<Buffer>(bytes);
  }
  bytes_lent_ += bytes;
  ++lent_;
  return Lent(buffer.release(), GiveBack{this});
}

void CopyBuffers::give_back(Buffer* buffer) noexcept {
  std::unique_ptr<Buffer> back(buffer);
  const std::size_t bytes = back->size();
  bytes_lent_ -= bytes;
  --lent_;
  if (bytes_lent_ + bytes_kept_ + bytes > kBytes) return;
  bytes_kept_ += bytes;
  kept_.push_back(std::move(back));  // there is room: see take
}

}  // namespace larder::engine
