// SPDX-License-Identifier: GPL-3.0-or-later
// PromptStrip: a prompt as one bar cut by its sections: reused tokens filled, computed ones hatched, a marker where the
// reuse ended or a token differs.
// Units: tokens.    Threads: GUI thread.
#pragma once

#include <QString>
#include <QVector>
#include <QWidget>

namespace larder::gui {

class Theme;

struct StripPart {
  QString label;
  std::uint32_t begin = 0, end = 0;
};

class PromptStrip final : public QWidget {
  Q_OBJECT

 public:
  explicit PromptStrip(const Theme& theme, QWidget* parent = nullptr);
  // marker: token it stands at; at or beyond `tokens`: none.
  void setPrompt(std::uint32_t tokens, std::uint32_t reused, std::uint32_t marker, QVector<StripPart> parts);
  QSize sizeHint() const override { return QSize(420, 46); }
  QSize minimumSizeHint() const override { return QSize(120, 46); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  double xOf(std::uint32_t token) const;
  void paintLabels(QPainter& painter) const;

  const Theme& theme_;
  std::uint32_t tokens_ = 0, reused_ = 0, marker_ = 0;
  QVector<StripPart> parts_;
};

}  // namespace larder::gui
