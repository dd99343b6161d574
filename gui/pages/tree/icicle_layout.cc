// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/icicle_layout.h"

#include <algorithm>
#include <cmath>

namespace larder::gui {
namespace {

class Layer {
 public:
  Layer(const TreeRows& rows, const IcicleFrame& frame, Icicle& out)
      : rows_(rows), frame_(frame), out_(out), least_(std::max(1.0 / frame.ratio, frame.join_share * frame.viewport)) {}

  void placeRoot() {
    const TreeRow& root = rows_.rows[static_cast<std::size_t>(frame_.root)];
    place(frame_.root, -1, 0, -frame_.offset, frame_.viewport * frame_.scale);
    if (root.kind == TreeRow::Kind::kRun) ++out_.shown;
    for (std::size_t i = 0; i < out_.boxes.size(); ++i) {
      if (out_.boxes[i].row >= 0) placeChildren(i);
    }
  }

 private:
  struct Exact {
    double x, width;  // before rounding, so that errors do not add up over the levels
  };

  void place(int row, int parent, int level, double x, double width) {
    IcicleBox box;
    box.row = row;
    box.parent = parent;
    box.level = level;
    setPixels(box, x, width);
    out_.boxes.push_back(box);
    exact_.push_back({x, width});
    out_.levels = std::max(out_.levels, level + 1);
  }

  void setPixels(IcicleBox& box, double x, double width) const {
    const double left = std::round(x * frame_.ratio) / frame_.ratio;
    const double right = std::round((x + width) * frame_.ratio) / frame_.ratio;
    box.x = left;
    box.width = right - left;
  }

  void placeChildren(std::size_t at) {
    const TreeRow& row = rows_.rows[static_cast<std::size_t>(out_.boxes[at].row)];
    const double whole = weightOf(row.all, frame_.by);
    const Exact area = exact_[at];
    const int level = out_.boxes[at].level + 1;
    double x = area.x;
    int join_first = -1, join_rows = 0;
    std::uint32_t join_nodes = 0;
    double join_x = x;
    const auto flush = [&] {
      if (join_rows > 0) joinBox(static_cast<int>(at), level, join_first, join_rows, join_nodes, join_x, x - join_x);
      join_rows = 0;
      join_nodes = 0;
    };
    for (int i = 0; i < row.child_count; ++i) {
      const int index = row.first_child + i;
      const TreeRow& child = rows_.rows[static_cast<std::size_t>(index)];
      const double width = whole > 0 ? area.width * weightOf(child.all, frame_.by) / whole : 0;
      const bool full = static_cast<int>(out_.boxes.size()) >= kMaxBoxes;
      if (width < least_ || full) {
        if (join_rows == 0) {
          join_first = index;
          join_x = x;
        }
        ++join_rows;
        join_nodes += child.all.nodes;
        x += width;
        continue;
      }
      flush();
      if (x + width <= 0 || x >= frame_.viewport) {
        out_.outside += child.all.nodes;
      } else {
        place(index, static_cast<int>(at), level, x, width);
        if (child.kind == TreeRow::Kind::kRun) ++out_.shown;
      }
      x += width;
    }
    flush();
  }

  void joinBox(int parent, int level, int first, int rows, std::uint32_t nodes, double x, double width) {
    if (x + width < 0 || x >= frame_.viewport) {
      out_.outside += nodes;
      return;
    }
    out_.joined += nodes;
    ++out_.joined_boxes;
    IcicleBox box;
    box.parent = parent;
    box.level = level;
    box.first_row = first;
    box.rows = rows;
    box.joined_nodes = nodes;
    setPixels(box, x, width);
    out_.boxes.push_back(box);
    exact_.push_back({x, width});
    out_.levels = std::max(out_.levels, level + 1);
  }

  const TreeRows& rows_;
  const IcicleFrame& frame_;
  Icicle& out_;
  double least_;
  std::vector<Exact> exact_;
};

}  // namespace

double weightOf(const TreeSums& sums, WidthBy by) {
  switch (by) {
    case WidthBy::kTokens:
      return static_cast<double>(sums.tokens);
    case WidthBy::kBytes:
      return static_cast<double>(sums.bytes);
    case WidthBy::kCompute:
      return sums.compute_ms;
  }
  return 0;
}

Icicle layIcicle(const TreeRows& rows, const IcicleFrame& frame) {
  Icicle out;
  if (frame.root < 0 || static_cast<std::size_t>(frame.root) >= rows.rows.size()) return out;
  Layer(rows, frame, out).placeRoot();
  return out;
}

int boxAt(const Icicle& icicle, double x, int level) {
  for (std::size_t i = 0; i < icicle.boxes.size(); ++i) {
    const IcicleBox& box = icicle.boxes[i];
    if (box.level == level && x >= box.x && x < box.x + box.width) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace larder::gui
