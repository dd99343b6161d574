// SPDX-License-Identifier: GPL-3.0-or-later
// The dialogs of the Tenants page: a new tenant, a new key, and the key itself, shown once.
// Ensures:  a refusal stays in its dialog with what was typed; the secret leaves memory the window owns when its dialog
//           closes.    Threads: GUI thread.
#pragma once

#include <QDialog>

#include "gui/pages/page.h"

class QCheckBox;
class QDialogButtonBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace larder::gui {

// Fields, a refusal line, Cancel and one verb.
class FormDialog : public QDialog {
  Q_OBJECT

 public:
  FormDialog(PageContext context, const QString& title, const QString& verb, QWidget* parent);

 protected:
  QFormLayout* fields() const { return fields_; }
  void explain(const QString& text);
  void setReady(bool ready) { act_->setEnabled(ready); }
  const PageContext& context() const { return context_; }
  // Asks the engine; closes when it agrees, says why when not.
  void send(Command command);
  virtual Command command() const = 0;
  virtual void agreed(const CommandOutcome& outcome) = 0;

 private:
  PageContext context_;
  QVBoxLayout* column_;
  QFormLayout* fields_;
  QLabel* refusal_;
  QPushButton* act_;
};

class NewTenantDialog final : public FormDialog {
  Q_OBJECT

 public:
  NewTenantDialog(PageContext context, QWidget* parent);

 Q_SIGNALS:
  void made(larder::TenantId id, const QString& name);

 protected:
  Command command() const override;
  void agreed(const CommandOutcome& outcome) override;

 private:
  QLineEdit* name_;
  QSpinBox* limit_;
};

class NewKeyDialog final : public FormDialog {
  Q_OBJECT

 public:
  NewKeyDialog(PageContext context, const TenantInfo& tenant, QWidget* parent);

 Q_SIGNALS:
  void made(const QString& label, const QString& secret);

 protected:
  Command command() const override;
  void agreed(const CommandOutcome& outcome) override;

 private:
  TenantId tenant_;
  QLineEdit* label_;
  QCheckBox* admin_;
};

class KeyShownDialog final : public QDialog {
  Q_OBJECT

 public:
  KeyShownDialog(const Theme& theme, const QString& label, const QString& secret, QWidget* parent);
  ~KeyShownDialog() override;

 private:
  QLineEdit* secret_;
};

}  // namespace larder::gui
