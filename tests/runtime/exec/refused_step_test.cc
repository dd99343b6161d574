// SPDX-License-Identifier: Apache-2.0
// Steps that name what they must not are refused before they touch anything.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test_paths.h"
#include "tests/runtime/exec/step_runner.h"

namespace larder::test {
namespace {

exec::ExecutorOptions options() {
  exec::ExecutorOptions options;
  options.block_count = 64;
  options.threads = 2;
  options.max_rows = 256;
  return options;
}

class RefusedStep : public ::testing::Test {
 protected:
  void expect_refused(exec::Step step, const std::string& words) {
    const exec::StepResult result = runner_.run(std::move(step));
    ASSERT_FALSE(result.status.ok()) << words;
    EXPECT_EQ(result.status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(result.status.error().message.find(words), std::string::npos) << result.status.error().message;
    EXPECT_TRUE(result.outputs.empty());
  }
  StepRunner runner_{load_or_die(LARDER_TEST_DATA "/models-tiny/stories260K-f32.gguf"), options()};
  Lane lane_ = runner_.open_lane(64);
};

TEST_F(RefusedStep, NamesATokenOutsideTheVocabulary) {
  expect_refused(runner_.step({runner_.rows(lane_, std::vector<Token>{1, 512})}), "token 512");
  expect_refused(runner_.step({runner_.rows(lane_, std::vector<Token>{-1})}), "token -1");
}

TEST_F(RefusedStep, NamesAPositionPastTheContext) {
  lane_.position = 511;
  expect_refused(runner_.step({runner_.rows(lane_, std::vector<Token>{1, 2})}), "position 512");
}

TEST_F(RefusedStep, NamesBlocksThatDoNotExistOrLack) {
  lane_.table[1] = BlockId{64};
  expect_refused(runner_.step({runner_.rows(lane_, std::vector<Token>{1})}), "block 64");
  lane_.table.resize(1);
  lane_.position = 32;
  expect_refused(runner_.step({runner_.rows(lane_, std::vector<Token>{1})}), "1 blocks for 33 positions");
  exec::Step step = runner_.step({});
  step.copies = {{BlockId{3}, BlockId{3}, 4}};
  expect_refused(std::move(step), "a copy of 4 tokens");
  exec::Step seal = runner_.step({});
  seal.seals = {kNoBlock};
  expect_refused(std::move(seal), "does not exist");
}

TEST_F(RefusedStep, NamesTooManyRowsAndWrongLayers) {
  Lane big = runner_.open_lane(288);
  expect_refused(runner_.step({runner_.rows(big, std::vector<Token>(257, 1))}), "257 rows");
  exec::Step step = runner_.step({runner_.rows(lane_, std::vector<Token>{1})});
  step.layer_end = 6;
  expect_refused(std::move(step), "layers 0 to 6 of 5");
  exec::Step empty = runner_.step({runner_.rows(lane_, std::vector<Token>{})});
  expect_refused(std::move(empty), "without rows");
}

}  // namespace
}  // namespace larder::test
