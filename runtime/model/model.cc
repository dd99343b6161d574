// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/model.h"

#include <sys/mman.h>

#include <algorithm>

#include "runtime/gguf/file.h"
#include "runtime/model/load.h"

namespace larder::model {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kTouchBytes = std::size_t{8} << 20;  // between looks at the cancel flag

// Reads one byte of every page of the weights, so that the disk is waited for here and not in the first request.
Status bring_in(const gguf::File& file, const LoadOptions& options) {
  std::uint64_t all = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) all += tensor.bytes;
  std::uint64_t done = 0;
  volatile unsigned char sink = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    const std::span<const std::byte> bytes = file.tensor_bytes(tensor);
    for (std::size_t begin = 0; begin < bytes.size(); begin += kTouchBytes) {
      if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)) {
        return Error{ErrorCode::kCancelled, "loading the model was cancelled", file.path()};
      }
      const std::size_t end = std::min(begin + kTouchBytes, bytes.size());
      for (std::size_t at = begin; at < end; at += kPageBytes) sink = std::to_integer<unsigned char>(bytes[at]);
      done += end - begin;
      if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(all));
    }
  }
  static_cast<void>(sink);
  return {};
}

}  // namespace

Result<std::shared_ptr<const Model>> Model::load(const std::string& path, const LoadOptions& options) {
  ASSIGN_OR_RETURN(std::shared_ptr<const gguf::File> file, gguf::File::open(path));
  return from_file(std::move(file), options);
}

Result<std::shared_ptr<const Model>> Model::from_file(std::shared_ptr<const gguf::File> file,
                                                      const LoadOptions& options) {
  std::shared_ptr<Model> model(new Model);
  ASSIGN_OR_RETURN(model->config_, load_config(*file));
  ASSIGN_OR_RETURN(LoadedWeights loaded, load_weights(*file, model->config_));
  RETURN_IF_ERROR(bring_in(*file, options));
  model->weights_ = std::move(loaded.weights);
  model->weight_bytes_ = loaded.bytes;
  model->quantisation_ = std::move(loaded.quantisation);
  model->file_ = std::move(file);
  return std::shared_ptr<const Model>(std::move(model));
}

const std::string& Model::path() const { return file_->path(); }

void Model::leave_pages(const kernels::WeightView& w) const { file_->leave_pages({w.data, w.rows * w.row_bytes()}); }

std::uint64_t Model::file_bytes() const { return file_->bytes().size(); }

}  // namespace larder::model
