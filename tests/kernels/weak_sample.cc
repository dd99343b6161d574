// SPDX-License-Identifier: Apache-2.0
// An object that does define a weak symbol, so that the check for them is seen to fail.
namespace larder {

inline int shared_by_several_objects(int x) { return x + 1; }

int (*weak_sample())(int) { return &shared_by_several_objects; }

}  // namespace larder
