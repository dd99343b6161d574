// SPDX-License-Identifier: Apache-2.0
// Linked where this build has no CUDA executor.
#include "runtime/exec/executor.h"

namespace larder::exec {

Result<std::unique_ptr<Executor>> make_cuda_executor(std::shared_ptr<const model::Model>, const ExecutorOptions&,
                                                     StepDone) {
  return Error{ErrorCode::kUnavailable, "this build has no CUDA executor; the processor computes instead", ""};
}

}  // namespace larder::exec
