// SPDX-License-Identifier: Apache-2.0
// Every verb through Engine::perform, and who may use it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/settings/settings.h"
#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::Principal;

std::vector<Token> random_tokens(Rng& rng, std::size_t count) {
  std::vector<Token> tokens(count);
  for (Token& token : tokens) token = static_cast<Token>(3 + rng.below(500));
  return tokens;
}

// Id of the deepest node of the tenant's only run.
NodeId last_node(const engine::Snapshot& snapshot) {
  NodeId last{};
  std::uint32_t end = 0;
  for (const engine::TreeNode& node : *snapshot.tree) {
    if (node.first_position + node.tokens > end) {
      end = node.first_position + node.tokens;
      last = node.id;
    }
  }
  return last;
}

TEST(Verbs, APinHoldsUnderPressureAndItsBudgetIsArithmetic) {
  EngineRigOptions options;
  options.settings = {{"pool.bytes", "1310720"}};  // 64 blocks, 16 may be pinned
  EngineRig rig(options);
  Rng rng(1);
  const std::vector<Token> kept = random_tokens(rng, 320);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(kept, 1)).ok());
  const NodeId node = last_node(*rig.fresh(rig.admin()));
  engine::PinNode pin{node, "for the test", 0, true};
  const auto dry = rig.perform(rig.admin(), pin);
  ASSERT_TRUE(dry.ok()) << to_string(dry.error());
  EXPECT_EQ(dry->pin.value, 0u);
  EXPECT_TRUE(rig.fresh(rig.admin())->pins.empty());
  pin.dry_run = false;
  const auto pinned = rig.perform(rig.admin(), pin);
  ASSERT_TRUE(pinned.ok());
  EXPECT_GE(pinned->blocks, 10u);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 600), 1)).ok());
  }
  EXPECT_GT(rig.fresh(rig.admin())->pool.evicted_blocks, 0u);
  const Collected again = rig.ask(rig.admin(), EngineRig::token_request(kept, 1));
  EXPECT_GE(again.finished->usage.cached_tokens, 319u);

  const Collected more = rig.ask(rig.admin(), EngineRig::token_request(random_tokens(rng, 600), 1));
  ASSERT_TRUE(more.ok());
  const auto snapshot = rig.fresh(rig.admin());
  NodeId too_large{};
  for (const engine::TreeNode& each : *snapshot->tree) {
    if (each.blocks >= 15 && !each.pinned) too_large = each.id;
  }
  const auto refused = rig.perform(rig.admin(), engine::PinNode{too_large, "", 0, false});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(refused.error().message.find("16"), std::string::npos) << refused.error().message;

  ASSERT_EQ(rig.fresh(rig.admin())->pins.size(), 1u);
  EXPECT_TRUE(rig.perform(rig.admin(), engine::Unpin{pinned->pin, {}}).ok());
  EXPECT_EQ(rig.perform(rig.admin(), engine::Unpin{pinned->pin, {}}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(rig.fresh(rig.admin())->pins.empty());
}

TEST(Verbs, DeleteAndLocate) {
  EngineRig rig;
  Rng rng(2);
  const std::vector<Token> prompt = random_tokens(rng, 200);
  ASSERT_TRUE(rig.ask(rig.admin(), EngineRig::token_request(prompt, 1)).ok());
  const auto before = rig.fresh(rig.admin());
  const NodeId node = last_node(*before);
  const auto located = rig.perform(rig.admin(), engine::Locate{node});
  ASSERT_TRUE(located.ok());
  EXPECT_EQ(located->tokens, 200u);
  EXPECT_EQ(located->placement.back().id, node);
  EXPECT_EQ(rig.perform(rig.tenant("guest"), engine::Locate{node}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::DeleteNode{node, false, true}).ok());
  EXPECT_EQ(rig.fresh(rig.admin())->pool.blocks_cached, before->pool.blocks_cached);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::DeleteNode{node, false, false}).ok());
  EXPECT_EQ(rig.fresh(rig.admin())->pool.blocks_cached, 0u);
  EXPECT_EQ(rig.perform(rig.admin(), engine::Locate{node}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(rig.perform(rig.admin(), engine::DeleteNode{NodeId{999}, false, false}).error().code, ErrorCode::kNotFound);
}

TEST(Verbs, TenantsAndKeysPersistAndADeletedTenantLeavesNothing) {
  EngineRig rig;
  const auto made = rig.perform(rig.admin(), engine::CreateTenant{"anna", 0});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(rig.perform(rig.admin(), engine::CreateTenant{"anna", 0}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(rig.perform(rig.admin(), engine::CreateTenant{"a/b", 0}).error().code, ErrorCode::kInvalidArgument);
  const auto key = rig.perform(rig.admin(), engine::CreateKey{made->tenant, "phone", false, false});
  ASSERT_TRUE(key.ok());
  const auto passing = rig.perform(rig.admin(), engine::CreateKey{made->tenant, "now", false, true});
  ASSERT_TRUE(passing.ok());
  const Principal anna = *rig.engine().authenticate(key->secret);
  EXPECT_FALSE(anna.admin);
  EXPECT_EQ(anna.tenant_name, "anna");
  Rng rng(3);
  ASSERT_TRUE(rig.ask(anna, EngineRig::token_request(random_tokens(rng, 100), 1)).ok());

  rig.reopen();
  ASSERT_TRUE(rig.engine().authenticate(key->secret).ok());
  EXPECT_FALSE(rig.engine().authenticate(passing->secret).ok());
  const Principal again = *rig.engine().authenticate(key->secret);
  ASSERT_TRUE(rig.ask(again, EngineRig::token_request(random_tokens(rng, 100), 1)).ok());
  ASSERT_TRUE(rig.perform(rig.admin(), engine::DeleteTenant{made->tenant}).ok());
  EXPECT_FALSE(rig.engine().authenticate(key->secret).ok());
  const auto after = rig.fresh(rig.admin());
  EXPECT_TRUE(after->tree->empty());
  EXPECT_EQ(after->pool.blocks_cached, 0u);
  EXPECT_TRUE(after->requests.empty());
  EXPECT_TRUE(after->entries.empty());
  const Collected refused = rig.ask(again, EngineRig::token_request(random_tokens(rng, 10), 1));
  EXPECT_FALSE(refused.ok());
}

TEST(Verbs, RevokedKeysStopAndTheAdminRightIsAsked) {
  EngineRig rig;
  const Principal guest = rig.tenant("guest");
  const auto key = rig.perform(rig.admin(), engine::CreateKey{{}, "x", true, false});
  ASSERT_TRUE(key.ok());
  ASSERT_TRUE(rig.engine().authenticate(key->secret)->admin);
  ASSERT_TRUE(rig.perform(rig.admin(), engine::RevokeKey{key->key}).ok());
  EXPECT_FALSE(rig.engine().authenticate(key->secret).ok());
  const std::vector<engine::Verb> verbs = {engine::PinNode{},      engine::Unpin{},       engine::DeleteNode{},
                                           engine::LoadModel{},    engine::UnloadModel{}, engine::CreateTenant{},
                                           engine::DeleteTenant{}, engine::CreateKey{},   engine::RevokeKey{},
                                           engine::WarmPack{},     engine::SetSetting{},  engine::MoveBlocks{},
                                           engine::VerifyBlocks{}, engine::CancelJob{},   engine::SetTenant{}};
  for (const engine::Verb& verb : verbs) {
    EXPECT_EQ(rig.perform(guest, verb).error().code, ErrorCode::kForbidden) << verb.index();
  }
}

TEST(Verbs, CancelOnlyOnesOwnOrAsAdmin) {
  EngineRig rig;
  const Principal alice = rig.tenant("alice");
  const Principal bob = rig.tenant("bob");
  Rng rng(4);
  rig.knobs().hold();
  auto stream = rig.submit(alice, EngineRig::token_request(random_tokens(rng, 100), 500));
  ASSERT_TRUE(rig.knobs().wait_held(10'000));
  EXPECT_EQ(rig.perform(bob, engine::CancelRequest{stream->request()}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(rig.perform(alice, engine::CancelRequest{stream->request()}).ok());
  rig.knobs().release();
  const Collected cancelled = rig.collect(*stream);
  ASSERT_TRUE(cancelled.ok());
  EXPECT_EQ(cancelled.reasons[0], engine::FinishReason::kCancelled);
  EXPECT_EQ(rig.perform(rig.admin(), engine::CancelRequest{stream->request()}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(rig.wait_idle());
}

TEST(Verbs, SettingsAreCheckedSavedAndApplied) {
  EngineRig rig;
  const auto unknown = rig.perform(rig.admin(), engine::SetSetting{"engine.step_mss", "40"});
  EXPECT_NE(unknown.error().message.find("engine.step_ms"), std::string::npos);
  const auto set = rig.perform(rig.admin(), engine::SetSetting{"engine.step_ms", "40"});
  ASSERT_TRUE(set.ok());
  EXPECT_FALSE(set->restart_needed);
  EXPECT_TRUE(rig.perform(rig.admin(), engine::SetSetting{"pool.kv_type", "f32"})->restart_needed);
  rig.reopen();
  EXPECT_EQ(rig.engine().settings().integer(settings::Key::kEngineStepMs), 40);
}

TEST(Verbs, LoadUnloadAndRefusedFiles) {
  EngineRigOptions options;
  options.load_model = false;
  EngineRig rig(options);
  EXPECT_FALSE(rig.engine().ready());
  EXPECT_EQ(rig.engine().submit(rig.admin(), EngineRig::text_request("x", 1)).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(rig.perform(rig.admin(), engine::LoadModel{"/no/such/file.gguf"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(rig.perform(rig.admin(), engine::LoadModel{"../x.gguf"}).error().code, ErrorCode::kInvalidArgument);
  const std::string bad = rig.folder() + "/bad.gguf";
  std::ofstream(bad) << "this is no model";
  ASSERT_FALSE(rig.perform(rig.admin(), engine::LoadModel{bad}).ok());
  auto snapshot = rig.fresh(rig.admin());
  ASSERT_FALSE(snapshot->models.empty());
  EXPECT_EQ(snapshot->models[0].state, engine::ModelInfo::State::kFailed);

  ASSERT_TRUE(rig.perform(rig.admin(), engine::LoadModel{rig.model_path()}).ok());
  ASSERT_TRUE(rig.engine().ready());
  snapshot = rig.fresh(rig.admin());
  ASSERT_EQ(snapshot->models[0].state, engine::ModelInfo::State::kReady);
  EXPECT_TRUE(rig.wait_until([](const engine::Snapshot& seen) { return seen.models[0].digest.size() == 64; }));
  const ModelId model = snapshot->models[0].id;
  // A file that is refused leaves the loaded model as it was.
  EXPECT_FALSE(rig.perform(rig.admin(), engine::LoadModel{bad}).ok());
  EXPECT_TRUE(rig.engine().ready());

  Rng rng(5);
  rig.knobs().hold();
  auto stream = rig.submit(rig.admin(), EngineRig::token_request(random_tokens(rng, 100), 500));
  ASSERT_TRUE(rig.knobs().wait_held(10'000));
  rig.knobs().release();
  ASSERT_TRUE(rig.perform(rig.admin(), engine::UnloadModel{model}).ok());
  const Collected ended = rig.collect(*stream);
  ASSERT_TRUE(ended.error);
  EXPECT_EQ(ended.error->code, ErrorCode::kUnavailable);
  EXPECT_FALSE(rig.engine().ready());
  EXPECT_EQ(rig.perform(rig.admin(), engine::UnloadModel{model}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(rig.fresh(rig.admin())->pool.blocks_total, 0u);
}

TEST(Verbs, APackIsWarmedPinnedAndFoundByTheNextChat) {
  EngineRigOptions options;
  options.chat_template = true;
  const std::filesystem::path packs = std::filesystem::temp_directory_path() / "larder_verbs_packs";
  std::filesystem::create_directories(packs);
  std::string text = "Once upon a time there was a house.";
  for (int i = 0; i < 20; ++i) text += " Lily said the dog " + std::to_string(i) + " was red and happy.";
  std::ofstream(packs / "home.md") << "---\nid: home\nname: Home\nlanguage: en\nversion: 1\nlicence: Apache-2.0\n---\n"
                                   << text << "\n";
  options.packs_dir = packs.string();
  EngineRig rig(options);
  ASSERT_TRUE(rig.wait_until([](const engine::Snapshot& s) { return !s.packs.empty() && s.packs[0].tokens > 100; }));
  EXPECT_FALSE(rig.fresh(rig.admin())->packs[0].warm);
  EXPECT_EQ(rig.perform(rig.admin(), engine::WarmPack{"nothing", false}).error().code, ErrorCode::kNotFound);
  const auto warmed = rig.perform(rig.admin(), engine::WarmPack{"home", true});
  ASSERT_TRUE(warmed.ok()) << to_string(warmed.error());
  const auto snapshot = rig.fresh(rig.admin());
  EXPECT_TRUE(snapshot->packs[0].warm);
  EXPECT_TRUE(snapshot->packs[0].pinned);
  EXPECT_EQ(snapshot->packs[0].tokens, warmed->tokens);
  ASSERT_EQ(snapshot->pins.size(), 1u);
  const Collected chat = rig.ask(rig.admin(), EngineRig::chat_request(text, {"hello"}, 2));
  ASSERT_TRUE(chat.ok());
  EXPECT_EQ(chat.started->verdict.kind, kv::VerdictKind::kFullPrefix);
  EXPECT_GE(chat.finished->usage.cached_tokens + 1, snapshot->packs[0].tokens);
  std::filesystem::remove_all(packs);
}

TEST(Verbs, KeylessLoopbackIsANamedSetting) {
  EngineRigOptions options;
  EngineRig closed(options);
  EXPECT_EQ(closed.engine().authenticate("").error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(closed.engine().authenticate("lk-1-00").error().code, ErrorCode::kUnauthorized);
  options.settings = {{"api.keyless_loopback", "true"}};
  EngineRig keyless(options);
  const auto local = keyless.engine().authenticate("");
  ASSERT_TRUE(local.ok());
  EXPECT_FALSE(local->admin);
  EXPECT_EQ(local->tenant_name, "local");
}

}  // namespace
}  // namespace larder::test
