// SPDX-License-Identifier: Apache-2.0
// VerbRunner: what each verb does, on the engine thread; what touches files goes to the clerk or the loader and comes
// back through the inbox.
// Rights:   everything needs the admin right but CancelRequest and Locate of one's own. What belongs to another tenant
//           does not exist for who has no admin right.
// Errors:   kForbidden, kNotFound, kUnavailable (no model), kConflict, kResourceExhausted with the arithmetic; as the
//           rooms below.
// Threads:  engine thread.
#pragma once

#include <functional>

#include "runtime/engine/services.h"
#include "runtime/engine/snapshot.h"
#include "runtime/sched/sequence.h"

namespace larder::engine {

class VerbRunner {
 public:
  VerbRunner(EngineLoop& loop, Services& services) : loop_(loop), services_(services) {}

  void perform(const Principal& who, const Verb& verb, const VerbDone& done);

  // Second halves of verbs that come back through the inbox.
  void erase_tenant(TenantId tenant, const ScopeId& scope);
  void pack_warmed(const Principal& who, const std::string& id, const std::string& name, bool pin,
                   const sched::SequenceReport& report, JobId id_of_job, const VerbDone& job);

 private:
  void run(const Principal& who, const PinNode& verb, const VerbDone& done);
  void run(const Principal& who, const Unpin& verb, const VerbDone& done);
  void run(const Principal& who, const DeleteNode& verb, const VerbDone& done);
  void run(const Principal& who, const Locate& verb, const VerbDone& done);
  void run(const Principal& who, const LoadModel& verb, const VerbDone& done);
  void run(const Principal& who, const UnloadModel& verb, const VerbDone& done);
  void run(const Principal& who, const CreateTenant& verb, const VerbDone& done);
  void run(const Principal& who, const SetTenant& verb, const VerbDone& done);
  void run(const Principal& who, const DeleteTenant& verb, const VerbDone& done);
  void run(const Principal& who, const CreateKey& verb, const VerbDone& done);
  void run(const Principal& who, const RevokeKey& verb, const VerbDone& done);
  void run(const Principal& who, const WarmPack& verb, const VerbDone& done);
  void run(const Principal& who, const CancelRequest& verb, const VerbDone& done);
  void run(const Principal& who, const SetSetting& verb, const VerbDone& done);
  void run(const Principal& who, const MoveBlocks& verb, const VerbDone& done);
  void run(const Principal& who, const VerifyBlocks& verb, const VerbDone& done);
  void run(const Principal& who, const CompressBlocks& verb, const VerbDone& done);
  void run(const Principal& who, const DecompressBlocks& verb, const VerbDone& done);
  void run(const Principal& who, const CancelJob& verb, const VerbDone& done);

  void on_clerk(const VerbDone& done, std::function<Result<VerbResult>()> work, LoopTask then = {});
  void promise_run(JobId job, const std::string& what, NodeId end);
  void answer_job(Result<JobInfo> job, const VerbDone& done);
  Status fits_memory(const SetSetting& verb) const;
  Status copies_fit(std::uint64_t bytes) const;
  VerbDone as_job(const std::string& verb, const VerbDone& done);

  EngineLoop& loop_;
  Services& services_;
};

}  // namespace larder::engine
